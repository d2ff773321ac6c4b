// SPDX-License-Identifier: Apache-2.0
// Parallel loops over large amounts of host memory.
#pragma once
#include <atomic>
#include <cstddef>

namespace recollect {

/// Set on a thread that runs next to others which have separate tasks: its loops are not divided.
inline thread_local bool one_piece = false;

/// `piece` of the loop, without the loop's type: what starts threads is compiled once.
using Piece = void (*)(const void *loop, std::size_t begin, std::size_t end);
void run_in_pieces(std::size_t n, const void *loop, Piece piece, std::size_t cost);

/// Calls fill(begin, end) for parts of 0 ... n - 1, in parallel if one part takes longer than starting a thread. `cost`
/// is the cost of one of the n, in units of one random number.
template <class Fill> void in_pieces(std::size_t n, const Fill &fill, std::size_t cost = 1) {
  run_in_pieces(
      n, &fill,
      [](const void *loop, std::size_t begin, std::size_t end) { (*static_cast<const Fill *>(loop))(begin, end); },
      cost);
}

/// The first i < n with found(i), or n.
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

/// Cost for copying or reading a number of an array that many passes need again. A piece then takes a quarter of a
/// millisecond instead of 50 ms, so that a state of a few MiB has several pieces.
constexpr std::size_t cost_of_copies = 16;

} // namespace recollect
