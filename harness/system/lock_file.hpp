// SPDX-License-Identifier: Apache-2.0
// Ensures that only one process at a time writes an output, on every file system.
#pragma once
#include <functional>
#include <string>

namespace recollect {

/// Holds a lock on NAME.lock while the object exists. NAME.lock is a separate file, so that readers of the output are
/// not affected. The system releases the lock when the process ends, however it ends. If the file system has no locks
/// (some NFS and Lustre mounts), NAME.lease names the host and the process instead. A killed process leaves NAME.lease
/// behind, and the next process tells the user to remove it.
class LockFile {
public:
  using Lock = std::function<int(int descriptor)>; // like flock(): 0, or -1 with errno set
  /// Input error that begins with `refusal` if another process holds the lock or the file cannot be created.
  LockFile(const std::string &name, const std::string &refusal, const Lock &lock = exclusively);
  ~LockFile();
  LockFile(const LockFile &) = delete;
  LockFile &operator=(const LockFile &) = delete;

private:
  static int exclusively(int descriptor); // flock() that does not wait
  void take_lease(const std::string &name, const std::string &refusal);
  std::string path_; // the file that is removed when the lock is released
  int descriptor_ = -1;
};

} // namespace recollect
