// SPDX-License-Identifier: Apache-2.0
#include "harness/system/lock_file.hpp"
#include "harness/core/error.hpp"
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace recollect {
namespace {

/// Whether the descriptor's file is still the one at `path`; the previous holder of the lock may have removed it.
bool is_named(int descriptor, const std::string &path) {
  struct stat held, named;
  return fstat(descriptor, &held) == 0 && lstat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string lease_holder(const std::string &lease) {
  std::string host = "?", pid = "?";
  std::ifstream(lease) >> host >> pid;
  const long number = std::strtol(pid.c_str(), nullptr, 10);
  const bool gone = host == host_name() && number > 0 && kill(pid_t(number), 0) != 0 && errno == ESRCH;
  return lease + " names process " + pid + " of " + host +
         (gone ? ", which has ended: remove that file" : "; if that process has ended, remove the file");
}

} // namespace

int LockFile::exclusively(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

LockFile::LockFile(const std::string &name, const std::string &refusal, const Lock &lock) : path_(name + ".lock") {
  for (;;) {
    const int descriptor = open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0) input_error(refusal + "cannot create " + path_ + ": " + std::strerror(errno));
    if (lock(descriptor) == 0) {
      if (is_named(descriptor, path_)) {
        descriptor_ = descriptor;
        return;
      }
      close(descriptor); // its holder released and removed the file between open() and lock(): try again
      continue;
    }
    const int reason = errno;
    close(descriptor);
    if (reason == EINTR) continue;
    if (reason == EWOULDBLOCK) input_error(refusal + "another process is writing it (it holds " + path_ + ")");
    unlink(path_.c_str()); // the file system has no locks, so no process can hold this one
    take_lease(name, refusal);
    return;
  }
}

/// link() creates a name atomically on every file system, including NFS, and fails if the name exists.
void LockFile::take_lease(const std::string &name, const std::string &refusal) {
  path_ = name + ".lease";
  const std::string own = host_name() + " " + std::to_string(getpid()),
                    temporary = path_ + "." + own.substr(own.find(' ') + 1);
  const int written = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  const bool whole = written >= 0 && write(written, own.data(), own.size()) == ssize_t(own.size());
  if (written >= 0) close(written);
  const bool taken = whole && link(temporary.c_str(), path_.c_str()) == 0;
  const int reason = errno;
  unlink(temporary.c_str());
  if (taken) return;
  const bool held = whole && reason == EEXIST;
  input_error(refusal + (held ? lease_holder(path_) : "cannot create " + path_ + ": " + std::strerror(reason)));
}

LockFile::~LockFile() {
  unlink(path_.c_str()); // before the lock is released, because afterwards the name may belong to another process
  if (descriptor_ >= 0) close(descriptor_);
}

} // namespace recollect
