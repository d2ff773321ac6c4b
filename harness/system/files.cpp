// SPDX-License-Identifier: Apache-2.0
#include "harness/system/files.hpp"
#include "harness/core/error.hpp"
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace recollect {
namespace {

namespace fs = std::filesystem;

std::string system_reason() { return std::strerror(errno) + std::string(errno == EFBIG ? " (ulimit -f)" : ""); }

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

bool sync_folder(const std::string &folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool synced = fsync(descriptor) == 0;
  close(descriptor);
  return synced;
}

/// The target of PATH after symbolic links, even if it does not exist yet.
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
  if (lstat(target_.c_str(), &s) != 0) return;
  if (!S_ISREG(s.st_mode)) refuse(S_ISDIR(s.st_mode) ? "it is a folder" : "it exists and is not a regular file");
  // The file's mode is checked as well, because access() lets the superuser write any file.
  if (access(target_.c_str(), W_OK) != 0 || (s.st_mode & 0222) == 0) refuse("it is write-protected");
}

OutputFile::~OutputFile() = default;

void OutputFile::refuse(const std::string &why) const { input_error("cannot write " + path_ + ": " + why); }

void OutputFile::lock() {
  if (!lock_) lock_.reset(new LockFile(target_, "cannot write " + path_ + ": "));
}

bool OutputFile::adopt() {
  lock();
  struct stat s;
  if (lstat(partial_.c_str(), &s) != 0) {
    lock_.reset();
    return false;
  }
  if (!S_ISREG(s.st_mode)) refuse(partial_ + " is not a regular file");
  return has_partial_ = true;
}

/// Replaces the contents of file `name` by `bytes` in one step and forces them to disk. The lock ensures that only this
/// process writes files next to the target.
void OutputFile::replace(const std::string &name, std::string_view bytes) const {
  unlink(temporary_.c_str()); // a process that died before its rename may have left the file
  const int descriptor = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse("cannot create " + temporary_ + ": " + system_reason());
  struct stat s;
  const bool written = (stat(target_.c_str(), &s) != 0 || fchmod(descriptor, s.st_mode & 07777) == 0) &&
                       write_all(descriptor, bytes) && fsync(descriptor) == 0;
  const std::string why = system_reason();
  if (close(descriptor) == 0 && written && rename(temporary_.c_str(), name.c_str()) == 0) {
    if (!sync_folder(folder_of(name))) refuse("its folder cannot be forced to the disk: " + system_reason());
    return;
  }
  const std::string later = system_reason();
  unlink(temporary_.c_str());
  refuse(written ? later : why);
}

void OutputFile::checkpoint(std::string_view bytes) {
  lock();
  if (!has_partial_ && access(partial_.c_str(), F_OK) == 0) {
    lock_.reset();
    refuse(partial_ + " holds an interrupted run: complete it with --resume, or remove it");
  }
  replace(partial_, bytes);
  has_partial_ = true;
}

void OutputFile::publish(std::string_view bytes) {
  lock();
  // The folder is forced to disk before PATH.partial is removed: a file system may keep one change of a folder and
  // lose another.
  replace(target_, bytes);
  abandon();
}

void OutputFile::abandon() {
  if (has_partial_)
    unlink(partial_.c_str()), unlink(temporary_.c_str()); // a process that died while writing may have left temporary_
  has_partial_ = false;
  lock_.reset();
}

namespace {
constexpr std::array ends{SIGINT, SIGTERM, SIGHUP};
}

DelayedSignals::DelayedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int end : ends) sigaddset(&set, end);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

DelayedSignals::~DelayedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool DelayedSignals::waiting() const {
  sigset_t set;
  return sigpending(&set) == 0 &&
         std::any_of(ends.begin(), ends.end(), [&](int end) { return sigismember(&set, end); });
}

OutputFolder::OutputFolder(const std::string &path, const std::string &manifest, const Names &names)
    : path_(normal_form(path)), manifest_(manifest) {
  if (!fs::path(path_).has_filename()) path_ = folder_of(path_); // removes a '/' at the end
  partial_ = path_ + ".partial";
  std::error_code failure;
  if (fs::exists(path_, failure) && !fs::is_directory(path_, failure)) refuse("it is not a folder");
  if (fs::equivalent(path_, ".", failure)) refuse("it is the current folder");
  fs::create_directories(folder_of(path_), failure);
  signals_.reset(new DelayedSignals);
  lock_.reset(new LockFile(path_, "cannot write " + path_ + ": "));
  for (const std::string &folder : {path_, partial_}) {
    const std::string at = folder + "/" + manifest,
                      text = fs::is_regular_file(at, failure) ? read_regular_file(at) : "";
    for (const auto &entry : fs::directory_iterator(folder, failure))
      if (const std::string file = entry.path().filename();
          !fs::is_regular_file(entry.symlink_status()) || (file != manifest && !names(text, file)))
        refuse(folder + " contains " + file + ", which " + manifest + " does not name");
  }
  remove_partial();
  if (mkdir(partial_.c_str(), 0777) != 0) refuse("cannot make " + partial_ + ": " + system_reason());
  remains_ = true;
}

OutputFolder::~OutputFolder() {
  if (remains_) remove_partial();
}

void OutputFolder::refuse(const std::string &why) const { input_error("cannot write " + path_ + ": " + why); }

/// Removes the manifest last. Then it names all files that are left, in whatever order the disk receives the changes.
void OutputFolder::remove_partial() const {
  std::error_code failure;
  for (const auto &entry : fs::directory_iterator(partial_, failure))
    if (entry.path().filename() != manifest_ && unlink(entry.path().c_str()) != 0) return;
  sync_folder(partial_);
  unlink((partial_ + "/" + manifest_).c_str());
  rmdir(partial_.c_str());
}

void OutputFolder::write(const std::string &file, std::string_view bytes) {
  const std::string path = partial_ + "/" + file;
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse("cannot create " + path + ": " + system_reason());
  const bool written = write_all(descriptor, bytes) && fsync(descriptor) == 0;
  const std::string why = system_reason();
  if (close(descriptor) != 0 || !written) refuse(written ? system_reason() : why);
  if (!sync_folder(partial_)) refuse(partial_ + " cannot be forced to the disk: " + system_reason());
  if (signals_->waiting()) refuse("interrupted");
}

void OutputFolder::publish() {
  struct stat s;
  if (stat(path_.c_str(), &s) == 0 && chmod(partial_.c_str(), s.st_mode & 07777) != 0) refuse(system_reason());
  remains_ = rename(partial_.c_str(), path_.c_str()) != 0; // also succeeds if PATH is an empty folder
  if (remains_ && ((errno != ENOTEMPTY && errno != EEXIST) ||
                   renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0))
    refuse("the finished folder cannot take its place: " + system_reason());
  if (sync_folder(folder_of(path_))) return;
  remains_ = false; // the disk may still have the earlier folder at PATH, so its files stay
  refuse("its folder cannot be forced to the disk: " + system_reason());
}

void write_file(const std::string &path, std::string_view bytes) {
  struct stat s;
  if (stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
    const int descriptor =
        open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK); // opening a pipe without a reader would block
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
    for (const std::string suffix : {"", ".partial", ".partial.new", ".lock", ".lease"})
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
