// SPDX-License-Identifier: Apache-2.0
// Output files that are absent, unchanged or complete, whatever happens to the process or the machine.
//
// New contents are written to a temporary file next to the target, forced to disk, and renamed to the target's name.
// Then the folder is forced to disk. Every failure is an input error (exit 3) that names the file.
#pragma once
#include "harness/system/lock_file.hpp"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace recollect {

/// PATH, reserved for this process. During a run the results so far are in PATH.partial, which is a complete file at
/// every instant, also for readers. PATH.lock keeps a second process from writing the same output. Symbolic links are
/// followed. A replaced file keeps its mode.
class OutputFile {
public:
  /// Input error if PATH cannot be written: no folder, no permission, write-protected, not a regular file.
  explicit OutputFile(const std::string &path);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  const std::string &path() const { return path_; }
  const std::string &partial() const { return partial_; }
  /// Takes over PATH.partial of an interrupted run; false if there is none. Input error while another process holds
  /// PATH.lock.
  bool adopt();
  /// Replaces PATH.partial by `bytes`. The first call refuses an existing PATH.partial, unless it was adopted.
  void checkpoint(std::string_view bytes);
  /// Replaces PATH by `bytes` and removes PATH.partial.
  void publish(std::string_view bytes);
  /// Removes PATH.partial if this process created it.
  void abandon();

private:
  void lock();
  void replace(const std::string &name, std::string_view bytes) const;
  [[noreturn]] void refuse(const std::string &why) const;
  std::string path_, target_, partial_, temporary_;
  std::unique_ptr<LockFile> lock_;
  bool has_partial_ = false; // whether PATH.partial belongs to this process
};

/// Writes a whole small file. A regular file is written like an OutputFile; a device, or a pipe with a reader,
/// directly.
void write_file(const std::string &path, std::string_view bytes);

/// The contents of a regular file; input error if it is not one or cannot be read.
std::string read_regular_file(const std::string &path);
/// Input error unless PATH is a regular file that can be read.
void require_regular_file(const std::string &path);

/// Usage error if two outputs are the same file, or if an output (or a file written next to it) is an input.
void refuse_overlap(const std::vector<std::string> &outputs, const std::vector<std::string> &inputs);

/// If one of the descriptors 0, 1 and 2 is closed, opens /dev/null as this descriptor, so that no file opened later
/// becomes standard output.
void open_standard_descriptors();

} // namespace recollect
