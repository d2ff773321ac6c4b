// SPDX-License-Identifier: Apache-2.0
#include "harness/core/in_pieces.hpp"
#include "harness/system/processors.hpp"
#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace recollect {

void run_in_pieces(std::size_t n, const void *loop, Piece piece, std::size_t cost) {
  constexpr std::size_t worth_a_thread = std::size_t(1) << 22; // random numbers that take about 50 ms
  const std::size_t pieces = std::clamp<std::size_t>(n * cost / worth_a_thread, 1, one_piece ? 1 : processors());
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < pieces; ++i)
    others.push_back(std::async([=] {
      // std::async may run a piece on the calling thread, which keeps its processor.
      if (std::this_thread::get_id() != caller) run_on_any_processor();
      piece(loop, n * i / pieces, n * (i + 1) / pieces);
    }));
  piece(loop, 0, n / pieces);
  for (std::future<void> &other : others) other.get();
}

} // namespace recollect
