// SPDX-License-Identifier: Apache-2.0
// Parallel loops over large amounts of host memory.
#pragma once
#include <atomic>
#include <cstddef>

namespace recollect {

/// True on the threads of side_by_side(). Loops on such a thread are not divided, because the other threads are busy.
inline thread_local bool one_piece = false;

/// Runs the indices [begin, end) of the loop. The loop's type is erased, so that the code that starts threads is
/// compiled once.
using Piece = void (*)(const void *loop, std::size_t begin, std::size_t end);
void run_in_pieces(std::size_t n, const void *loop, Piece piece, std::size_t cost);

/// Calls fill(begin, end) for parts of 0 ... n - 1. There are several parts, in parallel, only if a part takes long
/// enough to be worth a thread. `cost` is the time of one index, in units of the time of drawing one random number.
template <class Fill> void in_pieces(std::size_t n, const Fill &fill, std::size_t cost = 1) {
  run_in_pieces(
      n, &fill,
      [](const void *loop, std::size_t begin, std::size_t end) { (*static_cast<const Fill *>(loop))(begin, end); },
      cost);
}

/// The first i < n with found(i); n if there is none.
template <class Found> std::size_t first_in_pieces(std::size_t n, const Found &found, std::size_t cost = 1) {
  std::atomic<std::size_t> first(n);
  in_pieces(
      n,
      [&](std::size_t begin, std::size_t end) {
        while (begin < end && !found(begin)) ++begin;
        std::size_t known = first;
        while (begin < end && begin < known && !first.compare_exchange_weak(known, begin)) {
        }
      },
      cost);
  return first;
}

/// The `cost` for loops that copy or read one number per index. It is higher than the true cost, so that a piece takes
/// a quarter of a millisecond instead of 50 ms, and a state of a few MiB is divided into several pieces.
constexpr std::size_t cost_of_copies = 16;

} // namespace recollect
