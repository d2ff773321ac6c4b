// SPDX-License-Identifier: Apache-2.0
// Parallel loops over much host memory.
#pragma once
#include "harness/system/processors.hpp"
#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace recollect {

/// Set on a thread that works beside others, each on a task of its own: its loops have one piece.
inline thread_local bool one_piece = false;

/// Calls fill(begin, end) over 0 ... n - 1, in parallel pieces if one piece takes longer than starting a thread. `cost`
/// is the cost of one of the n, in random numbers drawn.
template <class Fill> void in_pieces(size_t n, const Fill &fill, size_t cost = 1) {
  constexpr size_t piece = size_t(1) << 22; // about 50 ms of random numbers
  const size_t pieces = std::clamp<size_t>(n * cost / piece, 1, one_piece ? 1 : processors());
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < pieces; ++i)
    others.push_back(std::async([=, &fill] {
      // The caller runs a piece when it waits for it, if no thread could be started.
      if (std::this_thread::get_id() != caller) run_on_any_processor();
      fill(n * i / pieces, n * (i + 1) / pieces);
    }));
  fill(0, n / pieces);
  for (std::future<void> &other : others) other.get();
}

/// The first i < n with found(i), or n.
template <class Found> size_t first_in_pieces(size_t n, const Found &found, size_t cost = 1) {
  std::atomic<size_t> first(n);
  in_pieces(
      n,
      [&](size_t begin, size_t end) {
        while (begin < end && !found(begin)) ++begin;
        size_t known = first;
        while (begin < end && begin < known && !first.compare_exchange_weak(known, begin)) {
        }
      },
      cost);
  return first;
}

/// Cost of copying or looking at a number of an array that many passes need again: a piece takes a quarter of a
/// millisecond, and not 50 ms, so that a state of a few MiB has several.
constexpr size_t cost_of_copies = 16;

} // namespace recollect
