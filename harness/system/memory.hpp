// SPDX-License-Identifier: Apache-2.0
// The memory that a case or the reading of a file may use (--memory).
#pragma once
#include "harness/core/error.hpp"
#include <cstdint>
#include <string>

namespace recollect {

/// The limit in bytes: the value of --memory, else the memory of the machine or its control group.
std::uint64_t memory_limit();
void set_memory_limit(std::uint64_t bytes);

/// Thrown before an allocation that would exceed the limit. `run` skips a case that throws it. The exit status of this
/// error is 3.
struct OverMemory : Error {
  using Error::Error;
};
/// "needs B bytes, --memory allows M" if `bytes` exceeds memory_limit(), else "".
std::string over_memory(std::uint64_t bytes);
/// Throws OverMemory with the text of over_memory() if this text is not empty.
void require_memory(std::uint64_t bytes);

/// From now on the allocator keeps freed host memory (only with glibc). Without this, each pass of a layer returns its
/// pages to the system, and the next pass faults them in again, which takes up to half of the time of a pass.
void keep_freed_memory();

/// The number of bytes in a text: "512M", "24G", "1.5T" or a plain number. Usage error for any other text.
std::uint64_t parse_bytes(const std::string &text, const std::string &what);

/// a * b, or the largest 64-bit number if the product does not fit into 64 bits.
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);

} // namespace recollect
