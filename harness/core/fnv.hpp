// SPDX-License-Identifier: Apache-2.0
// FNV-1a in 64 bits: a hash of bytes, the same on every machine.
#pragma once
#include <cstdint>
#include <string_view>

namespace recollect {

/// The hash of `bytes`, or of all bytes so far if `before` is the hash of the bytes that precede them.
inline std::uint64_t fnv1a(std::string_view bytes, std::uint64_t before = 0xcbf29ce484222325) {
  for (char byte : bytes) before = (before ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return before;
}

} // namespace recollect
