// SPDX-License-Identifier: Apache-2.0
// A fuzz target may read its input, or refuse it by an Error with one line; anything else is a finding.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/system/memory.hpp"
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace recollect {

/// A temporary file. One in memory would not do: HDF5 opens a path of /proc/self/fd no longer once it has resolved it.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes)
      : path_(std::filesystem::temp_directory_path() / ("recollect-fuzz-" + std::to_string(getpid()))) {
    if (!(std::ofstream(path_, std::ios::binary) << bytes).flush()) std::abort();
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

/// Takes over what a child process of the input counted and found (child.cpp).
void take_over_from_child();

template <class Read> void read_or_refuse(const Read &read) {
  set_memory_limit(64 << 20);
  try {
    read();
  } catch (const Error &refusal) {
    if (refusal.code != exit_usage && refusal.code != exit_input) std::abort();
    if (std::string(refusal.what()).empty()) std::abort();
  }
  take_over_from_child();
}

} // namespace recollect

#define FUZZ_TARGET(bytes)                                                                                             \
  static void target(const std::string &bytes);                                                                        \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {                                  \
    recollect::read_or_refuse([&] { target(std::string(reinterpret_cast<const char *>(data), size)); });               \
    return 0;                                                                                                          \
  }                                                                                                                    \
  static void target(const std::string &bytes)
