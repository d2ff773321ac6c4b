// SPDX-License-Identifier: Apache-2.0
// One writer at a time, on every file system.
#pragma once
#include <functional>
#include <string>

namespace recollect {

/// Holds NAME.lock while it lives: a file of its own, so that readers of what is written are not in its way. A lock ends
/// with its process, whatever ends that. Where the file system has no locks (some NFS and Lustre mounts), NAME.lease holds
/// the name of the host and the process instead; a process that is killed leaves it behind, and the next one is told to
/// remove it.
class LockFile {
public:
  using Lock = std::function<int(int descriptor)>; // as flock(): 0, or -1 with errno set
  /// Input error that begins with `refusal` where another process holds it or it cannot be made.
  LockFile(const std::string &name, const std::string &refusal, const Lock &lock = exclusively);
  ~LockFile();
  LockFile(const LockFile &) = delete;
  LockFile &operator=(const LockFile &) = delete;

private:
  static int exclusively(int descriptor); // flock() that does not wait
  void take_lease(const std::string &name, const std::string &refusal);
  std::string path_; // what goes when the lock is released
  int descriptor_ = -1;
};

} // namespace recollect
