// SPDX-License-Identifier: Apache-2.0
// Runs whole calls side by side on the host's threads.
#pragma once
#include "harness/device/launch_space.hpp"
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace recollect {

/// Whether a kernel may launch kernels, which then run on its thread. From Kokkos 4 on, a launch waits until the space's
/// current kernel has ended, so that such a launch would wait for ever.
constexpr bool kernels_launch_kernels = on_host && KOKKOS_VERSION < 40000;

/// Calls f(i) for i < n, each on one thread: kernels that f launches run on that thread, without waiting for others. Where
/// kernels cannot launch kernels, and for n = 1, the calls run in turn, with all threads. Rethrows the first exception
/// after the calls under way.
/// f allocates arrays with allocated() (transfer.hpp): on other threads Kokkos cannot fill new arrays with zeros.
template <class F> void side_by_side(size_t n, const F &f) {
  const size_t workers = kernels_launch_kernels ? std::min<size_t>(n, size_t(Execution().concurrency())) : 1;
  if (workers <= 1) {
    for (size_t i = 0; i < n; ++i) f(i);
    return;
  }
  std::atomic<size_t> next(0);
  std::exception_ptr failed;
  std::mutex failing;
  const auto work = [&next, &failed, &failing, &f, n](size_t) {
    try {
      for (size_t i; (i = next.fetch_add(1)) < n;) f(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failing);
      if (!failed) failed = std::current_exception();
      next = n;
    }
  };
  if constexpr (kernels_launch_kernels) Kokkos::parallel_for("side by side", over(workers), work);
  if (failed) std::rethrow_exception(failed);
}

} // namespace recollect
