// SPDX-License-Identifier: Apache-2.0
#include "harness/device/side_by_side.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/device/launch_space.hpp"
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace recollect {

constexpr bool kernels_launch_kernels = on_host && KOKKOS_VERSION < 40000;

bool runs_side_by_side() { return kernels_launch_kernels; }

void side_by_side(size_t n, const std::function<void(size_t)> &call) {
  const size_t workers = kernels_launch_kernels ? std::min<size_t>(n, size_t(Execution().concurrency())) : 1;
  if (workers <= 1) {
    for (size_t i = 0; i < n; ++i) call(i);
    return;
  }
  std::atomic<size_t> next(0);
  std::exception_ptr failed;
  std::mutex failing;
  const auto work = [&](size_t) {
    const bool before = std::exchange(one_piece, true);
    try {
      for (size_t i; (i = next.fetch_add(1)) < n;) call(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failing);
      if (!failed) failed = std::current_exception();
      next = n;
    }
    one_piece = before;
  };
  if constexpr (kernels_launch_kernels) parallel_loop("side by side", workers, work);
  if (failed) std::rethrow_exception(failed);
}

} // namespace recollect
