// SPDX-License-Identifier: Apache-2.0
// Memory limit of a case or a file (--memory).
#pragma once
#include "harness/core/error.hpp"
#include <cstdint>
#include <string>

namespace recollect {

/// The limit in bytes: the value of --memory, else the memory of the machine or its control group.
std::uint64_t memory_limit();
void set_memory_limit(std::uint64_t bytes);

/// Thrown before an allocation that would exceed the limit. A case that needs too much is skipped. Exit 3.
struct OverMemory : Error {
  using Error::Error;
};
/// "needs B bytes, --memory allows M" if `bytes` exceeds memory_limit(), else "".
std::string over_memory(std::uint64_t bytes);
/// Throws OverMemory with the text of over_memory() if this text is not empty.
void require_memory(std::uint64_t bytes);

/// Makes the allocator keep freed host memory for the whole program (only with glibc). Otherwise each pass over a layer
/// returns its pages to the system and faults them in again, which takes up to half of the pass's time.
void keep_freed_memory();

/// "512M", "24G", "1.5T" or plain bytes; usage error otherwise.
std::uint64_t parse_bytes(const std::string &text, const std::string &what);

/// a * b, or a value above memory_limit() if that does not fit into 64 bits.
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);

} // namespace recollect
