// SPDX-License-Identifier: Apache-2.0
// A fuzz target may read its input, or refuse it by an Error with one line; anything else is a finding.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/system/memory.hpp"
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace recollect {

/// A file in memory that has a path.
class MemoryFile {
public:
  explicit MemoryFile(const std::string &bytes) : id_(memfd_create("input", MFD_CLOEXEC)) {
    if (id_ < 0 || write(id_, bytes.data(), bytes.size()) != ssize_t(bytes.size())) std::abort();
  }
  ~MemoryFile() { close(id_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(id_); }

private:
  int id_;
};

template <class Read> void read_or_refuse(const Read &read) {
  set_memory_limit(64 << 20);
  try {
    read();
  } catch (const Error &refusal) {
    if (refusal.code != exit_usage && refusal.code != exit_input) std::abort();
    if (std::string(refusal.what()).empty()) std::abort();
  }
}

} // namespace recollect

#define FUZZ_TARGET(bytes)                                                                                             \
  static void target(const std::string &bytes);                                                                        \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {                                  \
    recollect::read_or_refuse([&] { target(std::string(reinterpret_cast<const char *>(data), size)); });               \
    return 0;                                                                                                          \
  }                                                                                                                    \
  static void target(const std::string &bytes)
