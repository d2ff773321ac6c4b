// SPDX-License-Identifier: Apache-2.0
// How much memory a case or a file may take (--memory).
#pragma once
#include "harness/core/error.hpp"
#include <cstdint>
#include <string>

namespace recollect {

/// Bytes: what --memory said, else what the machine or its control group has.
std::uint64_t memory_limit();
void set_memory_limit(std::uint64_t bytes);

/// What would take more than the limit: nothing was allocated, and a case is left out. Exit 3.
struct OverMemory : Error {
  using Error::Error;
};
/// "needs B bytes, --memory allows M" where `bytes` are more than memory_limit(), else nothing.
std::string over_memory(std::uint64_t bytes);
/// Throws OverMemory with that.
void require_memory(std::uint64_t bytes);

/// "512M", "24G", "1.5T" or plain bytes; usage error otherwise.
std::uint64_t parse_bytes(const std::string &text, const std::string &what);

/// a * b; memory_limit() + 1 or more where that does not fit 64 bits.
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);

} // namespace recollect
