// SPDX-License-Identifier: Apache-2.0
#include "harness/device/launch_space.hpp"
#include <algorithm>

namespace recollect {

void on_host_threads(const std::string &label, size_t n, const void *loop, Piece piece) {
  using Host = std::conditional_t<on_host, Execution, Kokkos::DefaultHostExecutionSpace>;
  // There are several pieces per thread, because newer versions of Kokkos assign pieces to threads cyclically, and the
  // last indices of causal loops cost the most.
  const size_t pieces = std::min(n, 16 * size_t(Host().concurrency()));
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Host>(0, pieces),
                       [=](size_t i) { piece(loop, n * i / pieces, n * (i + 1) / pieces); });
}

} // namespace recollect
