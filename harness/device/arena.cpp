// SPDX-License-Identifier: Apache-2.0
#include "harness/device/arena.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>

namespace recollect {

void Arena::reset() {
  if (most_ > block_.extent(0)) {
    overflow_.clear();
    block_ = Bytes(); // frees the block before the next one is allocated
    block_ = make(most_);
  }
  used_ = 0;
}

Arena::Bytes Arena::make(size_t n) { return allocated<char>("arena", n); }

char *Arena::bytes(size_t n) {
  const size_t begin = used_;
  used_ += (n + 255) / 256 * 256; // whole cache lines, and aligned for any vector
  most_ = std::max(most_, used_);
  if (used_ <= block_.extent(0)) return block_.data() + begin;
  for (const Overflow &one : overflow_)
    if (one.begin == begin && one.memory.extent(0) >= n) return one.memory.data();
  require_memory(most_);
  overflow_.push_back({begin, make(n)});
  return overflow_.back().memory.data();
}

} // namespace recollect
