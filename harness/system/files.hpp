// SPDX-License-Identifier: Apache-2.0
// Writes output files. Whatever happens to the process or the machine, an output file is absent, unchanged or complete.
//
// New contents are written to a temporary file next to the target, forced to disk, and renamed to the target's name.
// Then the folder is forced to disk. Every failure is an input error (exit 3) that names the file.
#pragma once
#include "harness/system/lock_file.hpp"
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace recollect {

/// An output file PATH that is reserved for this process. During a run the results so far are in PATH.partial, which is
/// a complete file at every instant, also for readers. PATH.lock keeps a second process from writing the same output.
/// Symbolic links are followed. A replaced file keeps its mode.
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
  /// Removes PATH.partial if this process created or adopted it.
  void abandon();

private:
  void lock();
  void replace(const std::string &name, std::string_view bytes) const;
  [[noreturn]] void refuse(const std::string &why) const;
  std::string path_, target_, partial_, temporary_;
  std::unique_ptr<LockFile> lock_;
  bool has_partial_ = false; // whether PATH.partial belongs to this process
};

/// While an object of this type exists, SIGINT, SIGTERM and SIGHUP are not delivered, but wait.
class DelayedSignals {
public:
  DelayedSignals();
  ~DelayedSignals();
  DelayedSignals(const DelayedSignals &) = delete;
  DelayedSignals &operator=(const DelayedSignals &) = delete;
  bool waiting() const;

private:
  sigset_t before_;
};

/// An output folder PATH that is reserved for this process. One of its files, the manifest, names the others. The
/// folder is made as PATH.partial. publish() renames PATH.partial to PATH or exchanges the two, in one step. Without
/// publish(), the destructor removes PATH.partial. If a process is killed before, the next process removes
/// PATH.partial.
class OutputFolder {
public:
  /// Whether the manifest (its text) names this file.
  using Names = std::function<bool(const std::string &manifest, const std::string &file)>;
  /// Input error if PATH cannot be written, or if PATH or PATH.partial contains something that its manifest does not
  /// name.
  OutputFolder(const std::string &path, const std::string &manifest, const Names &names);
  ~OutputFolder();
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;
  /// Adds a file, the manifest first. Input error if it cannot be written, or if a signal asks the process to end.
  void write(const std::string &file, std::string_view bytes);
  /// Moves the finished folder to PATH. The files that were there are removed.
  void publish();

private:
  [[noreturn]] void refuse(const std::string &why) const;
  void remove_partial() const;
  std::string path_, partial_, manifest_;
  bool remains_ = false; // whether the destructor must remove PATH.partial
  std::unique_ptr<DelayedSignals> signals_;
  std::unique_ptr<LockFile> lock_;
};

/// Writes a whole small file. A device, or a pipe that has a reader, is written directly. Other files are written like
/// an OutputFile.
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
