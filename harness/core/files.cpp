// SPDX-License-Identifier: Apache-2.0
#include "harness/core/files.hpp"
#include "harness/core/error.hpp"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace recollect {
namespace {

namespace fs = std::filesystem;

std::string system_reason() { return std::strerror(errno); }

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(size_t(n));
  }
  return true;
}

std::string folder_of(const std::string &path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool sync_folder(const std::string &path) {
  const int folder = open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const bool synced = fsync(folder) == 0;
  close(folder);
  return synced;
}

/// The file that PATH stands for after its symbolic links, also where that file does not exist yet.
std::string followed(const std::string &path) {
  std::error_code failure;
  fs::path now = path;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(now, failure)); ++links) {
    const fs::path next = fs::read_symlink(now, failure);
    if (failure) break;
    now = next.is_absolute() ? next : now.parent_path() / next;
  }
  return now.string();
}

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool exists = false;
  bool operator==(const Identity &o) const { return exists && o.exists && device == o.device && inode == o.inode; }
};
Identity identity(const struct stat &s) { return {s.st_dev, s.st_ino, true}; }
Identity identity_of(const std::string &path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0 ? identity(s) : Identity{};
}

std::string normal_form(const std::string &path) {
  std::error_code failure;
  const fs::path full = fs::weakly_canonical(path, failure);
  return failure ? path : full.string();
}

} // namespace

OutputFile::OutputFile(const std::string &path) : path_(path), target_(followed(path)) {
  partial_ = target_ + ".partial", temporary_ = target_ + ".partial.new";
  const std::string folder = folder_of(target_);
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse("the folder " + folder + " is missing or not writable");
  struct stat s;
  if (lstat(target_.c_str(), &s) == 0 && !S_ISREG(s.st_mode))
    refuse(S_ISDIR(s.st_mode) ? "it is a folder" : "it exists and is not a regular file");
}

OutputFile::~OutputFile() {
  if (held_ >= 0) close(held_);
}

void OutputFile::refuse(const std::string &why) const { input_error("cannot write " + path_ + ": " + why); }

void OutputFile::hold(int descriptor) {
  if (held_ >= 0) close(held_); // its lock goes with the file that was replaced
  held_ = descriptor;
}

bool OutputFile::adopt() {
  for (;;) {
    const int descriptor = open(partial_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) {
      if (errno == ENOENT) return false;
      refuse(partial_ + " cannot be opened: " + system_reason());
    }
    struct stat s;
    if (fstat(descriptor, &s) != 0 || !S_ISREG(s.st_mode)) {
      close(descriptor);
      refuse(partial_ + " is not a regular file");
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      close(descriptor);
      refuse("another process is writing it (it holds " + partial_ + ")");
    }
    if (identity(s) == identity_of(partial_)) {
      hold(descriptor);
      return true;
    }
    close(descriptor); // replaced between open and lock: look again
  }
}

int OutputFile::fresh(std::string_view bytes) const {
  const auto create = [&] {
    return open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  };
  int descriptor = create();
  if (descriptor < 0 && errno == EEXIST) { // alive, or left by a process that died between writing and renaming
    const int other = open(temporary_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    // It died between link and unlink: the file is the PATH.partial that is held here.
    const bool ours = held_ >= 0 && identity_of(temporary_) == identity_of(partial_);
    const bool alive = !ours && other >= 0 && flock(other, LOCK_EX | LOCK_NB) != 0;
    if (other >= 0) close(other);
    if (alive) refuse("another process is writing it");
    unlink(temporary_.c_str());
    descriptor = create();
  }
  if (descriptor < 0) refuse("cannot create " + temporary_ + ": " + system_reason());
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 || !write_all(descriptor, bytes) || fsync(descriptor) != 0)
    give_up(descriptor, system_reason());
  return descriptor;
}

void OutputFile::give_up(int descriptor, const std::string &why) const {
  close(descriptor);
  unlink(temporary_.c_str());
  refuse(why);
}

void OutputFile::checkpoint(std::string_view bytes) {
  const bool first = held_ < 0;
  if (first && access(partial_.c_str(), F_OK) == 0) {
    adopt(); // refuses where another process is alive
    close(held_), held_ = -1;
    refuse(partial_ + " holds an interrupted run: complete it with --resume, or remove it");
  }
  const int descriptor = fresh(bytes);
  // link() refuses an existing name, so that of two processes that start together one is refused.
  if ((first ? link(temporary_.c_str(), partial_.c_str()) : rename(temporary_.c_str(), partial_.c_str())) != 0)
    give_up(descriptor, errno == EEXIST ? "another process is writing it" : system_reason());
  if (first) unlink(temporary_.c_str());
  hold(descriptor);
  if (!sync_folder(partial_)) refuse("its folder cannot be forced to the disk: " + system_reason());
}

void OutputFile::publish(std::string_view bytes) {
  const int descriptor = fresh(bytes);
  if (rename(temporary_.c_str(), target_.c_str()) != 0) give_up(descriptor, system_reason());
  close(descriptor);
  // Before PATH.partial goes: a file system may keep the one of a folder's changes and lose the other.
  if (!sync_folder(target_)) refuse("its folder cannot be forced to the disk: " + system_reason());
  abandon();
}

void OutputFile::abandon() {
  if (held_ >= 0) unlink(partial_.c_str()), unlink(temporary_.c_str()); // what a process died writing, too
  hold(-1);
}

void write_file(const std::string &path, std::string_view bytes) {
  struct stat s;
  if (stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK); // a pipe without a reader never opens
    if (descriptor < 0) input_error("cannot write " + path + ": " + system_reason());
    fcntl(descriptor, F_SETFL, 0);
    const bool written = write_all(descriptor, bytes);
    const std::string why = system_reason();
    if (close(descriptor) != 0 || !written) input_error("cannot write " + path + ": " + why);
    return;
  }
  OutputFile(path).publish(bytes);
}

void require_regular_file(const std::string &path) {
  struct stat s;
  if (stat(path.c_str(), &s) != 0)
    input_error(errno == ENOENT ? "no such file: " + path : "cannot read " + path + ": " + system_reason());
  if (!S_ISREG(s.st_mode))
    input_error("cannot read " + path + ": it is " + (S_ISDIR(s.st_mode) ? "a folder" : "not a regular file"));
  if (access(path.c_str(), R_OK) != 0) input_error("cannot read " + path + ": " + system_reason());
}

std::string read_regular_file(const std::string &path) {
  require_regular_file(path);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) input_error("cannot read " + path + ": " + system_reason());
  std::string bytes;
  char block[1 << 16];
  ssize_t n;
  while ((n = read(descriptor, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) bytes.append(block, size_t(n));
  const std::string why = system_reason();
  close(descriptor);
  if (n < 0) input_error("cannot read " + path + ": " + why);
  return bytes;
}

void refuse_overlap(const std::vector<std::string> &outputs, const std::vector<std::string> &inputs) {
  struct Place {
    std::string named, full;
    Identity identity;
  };
  const auto place = [](const std::string &named, const std::string &path) {
    return Place{named, normal_form(path), identity_of(path)};
  };
  const auto same = [](const Place &a, const Place &b) { return a.full == b.full || a.identity == b.identity; };
  std::vector<Place> written, read;
  for (const std::string &path : inputs)
    if (!path.empty()) read.push_back(place(path, path));
  for (const std::string &path : outputs) {
    if (path.empty()) continue;
    const Place target = place(path, path);
    for (const Place &other : written)
      if (same(target, other)) usage_error("two outputs are one file: " + other.named + " and " + path);
    for (const std::string suffix : {"", ".partial", ".partial.new"})
      for (const Place &input : read)
        if (same(place(path + suffix, followed(path) + suffix), input))
          usage_error("the output " + path + " would overwrite the input " + input.named);
    written.push_back(target);
  }
}

void open_standard_descriptors() {
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0) {
      const int opened = open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY);
      if (opened >= 0 && opened != descriptor) dup2(opened, descriptor), close(opened);
    }
}

} // namespace recollect
