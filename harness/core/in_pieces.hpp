// SPDX-License-Identifier: Apache-2.0
// Parallel loops over large amounts of host memory.
#pragma once
#include "harness/system/processors.hpp"
#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace recollect {

/// Set on a thread that runs next to others which have separate tasks: its loops are not divided.
inline thread_local bool one_piece = false;

/// Calls fill(begin, end) for parts of 0 ... n - 1, in parallel if one part takes longer than starting a thread. `cost`
/// is the cost of one of the n, in units of one random number.
template <class Fill> void in_pieces(size_t n, const Fill &fill, size_t cost = 1) {
  constexpr size_t piece = size_t(1) << 22; // about 50 ms of random numbers
  const size_t pieces = std::clamp<size_t>(n * cost / piece, 1, one_piece ? 1 : processors());
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < pieces; ++i)
    others.push_back(std::async([=, &fill] {
      // If no thread could be started, the caller runs a piece itself when it waits for it.
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

/// Cost for copying or reading a number of an array that many passes need again. A piece then takes a quarter of a
/// millisecond instead of 50 ms, so that a state of a few MiB has several pieces.
constexpr size_t cost_of_copies = 16;

} // namespace recollect
