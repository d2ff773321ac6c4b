// SPDX-License-Identifier: Apache-2.0
// A fuzz target may read its input, or refuse it by an Error with one line; anything else is a finding.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace recollect {

/// Defined by each target.
void fuzz(const std::string &bytes);

/// Whether this is the process that reads files with HDF5 for the targets (child.cpp).
bool in_the_worker();

/// A temporary file, which the worker finds and leaves. One in memory would not do: HDF5 opens a path of /proc/self/fd no
/// longer once it has resolved it.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes) {
    if (!in_the_worker() && !(std::ofstream(path(), std::ios::binary) << bytes).flush()) std::abort();
  }
  ~TemporaryFile() {
    if (!in_the_worker()) unlink(path().c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  const std::string &path() const {
    static const std::string path =
        std::filesystem::temp_directory_path() / ("recollect-fuzz-" + std::to_string(getpid()));
    return path;
  }
};

} // namespace recollect
