// SPDX-License-Identifier: Apache-2.0
// Loops over much host memory, side by side.
#pragma once
#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace recollect {

/// fill(begin, end) over 0 ... n - 1, in pieces side by side where one takes longer than a thread to start; `cost` is that
/// of one of the n, in numbers made.
template <class Fill> void in_pieces(size_t n, const Fill &fill, size_t cost = 1) {
  constexpr size_t piece = size_t(1) << 22; // some 50 ms of numbers
  const size_t pieces = std::clamp<size_t>(n * cost / piece, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> others; // which run when waited for, where no thread is to be had
  for (size_t i = 1; i < pieces; ++i)
    others.push_back(std::async([=, &fill] { fill(n * i / pieces, n * (i + 1) / pieces); }));
  fill(0, n / pieces);
  for (std::future<void> &other : others) other.get();
}

} // namespace recollect
