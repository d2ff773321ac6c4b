// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness/numerics/random.hpp"

namespace recollect {

/// `count` different numbers below n in random order: the beginning of a Fisher-Yates shuffle of 0 ... n - 1. Uses the
/// stream's numbers first ... first + count - 1. Takes time proportional to `count`, however large n is.
std::vector<int> distinct(int count, int n, const Stream &draw, std::uint64_t first = 0);

} // namespace recollect
