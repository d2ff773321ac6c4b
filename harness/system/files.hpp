// SPDX-License-Identifier: Apache-2.0
// Output files that are absent, old or complete, whatever happens to the process or the machine.
//
// New contents are written beside the target, forced to the disk, and renamed; the folder is forced to the disk as well.
// Every failure is an input error (exit 3) that names the file.
#pragma once
#include "harness/system/lock_file.hpp"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace recollect {

/// PATH, reserved for this process. While work goes on its state lies in PATH.partial, itself complete at any instant, for
/// readers too; PATH.lock keeps a second process from the same output. Symbolic links are followed to their target. What
/// replaces a file has the mode of that file.
class OutputFile {
public:
  /// Refuses a PATH that cannot be written: no folder, no permission, write-protected, not a regular file.
  explicit OutputFile(const std::string &path);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  const std::string &path() const { return path_; }
  const std::string &partial() const { return partial_; }
  /// Takes over what an interrupted run left in PATH.partial; false where there is nothing.
  /// Refused while another process holds it.
  bool adopt();
  /// PATH.partial becomes `bytes`. The first call refuses a PATH.partial that is there already, unless it was adopted.
  void checkpoint(std::string_view bytes);
  /// PATH becomes `bytes`, and PATH.partial goes.
  void publish(std::string_view bytes);
  /// Removes PATH.partial, where this process made it.
  void abandon();

private:
  void lock();
  void replace(const std::string &name, std::string_view bytes) const;
  [[noreturn]] void refuse(const std::string &why) const;
  std::string path_, target_, partial_, temporary_;
  std::unique_ptr<LockFile> lock_;
  bool has_partial_ = false; // PATH.partial is this process's
};

/// A whole small file at once: a regular one like OutputFile, a device or a pipe with a reader directly.
void write_file(const std::string &path, std::string_view bytes);

/// The whole of a regular file; input error where it is anything else or cannot be read.
std::string read_regular_file(const std::string &path);
/// Input error unless PATH is a regular file that can be read.
void require_regular_file(const std::string &path);

/// Usage error where two outputs are one file, or an output (or what is written beside it) is an input.
void refuse_overlap(const std::vector<std::string> &outputs, const std::vector<std::string> &inputs);

/// Opens what is closed of the descriptors 0, 1 and 2 on /dev/null, so that no file of ours becomes standard output.
void open_standard_descriptors();

} // namespace recollect
