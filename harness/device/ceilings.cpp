// SPDX-License-Identifier: Apache-2.0
#include "harness/device/ceilings.hpp"
#include "harness/device/device.hpp"
#include <KokkosBlas3_gemm.hpp>
#include <algorithm>
#include <chrono>
#include <unistd.h>

namespace recollect {
namespace {

template <class Work> double best_seconds(int tries, const Work &work) {
  double best = 1e300;
  for (int i = 0; i <= tries; ++i) {
    Kokkos::fence();
    const auto start = std::chrono::steady_clock::now();
    work();
    Kokkos::fence();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i) best = std::min(best, seconds); // the first warms up
  }
  return best;
}

template <class Real> double gemm_rate() {
  using Matrix = Kokkos::View<Real **, Kokkos::LayoutLeft, Execution>;
  const int n = on_host ? 1536 : 8192;
  const Matrix A("ceilings::A", n, n), B("ceilings::B", n, n), C("ceilings::C", n, n);
  Kokkos::deep_copy(A, Real(1)), Kokkos::deep_copy(B, Real(1));
  const double seconds = best_seconds(5, [&] { KokkosBlas::gemm("N", "N", Real(1), A, B, Real(0), C); });
  return 2.0 * n * n * n / seconds;
}

/// Bytes of an array that no cache holds.
size_t beyond_caches() {
  const long cache = on_host ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
  return std::max<size_t>(size_t(on_host ? 64 : 512) << 20, 2 * size_t(std::max(0L, cache)));
}

using Bytes = Kokkos::View<double *, Execution>;

/// Kept until the end: fresh memory costs many times what writing to it does.
const Bytes &large_array() {
  static Bytes kept;
  if (!kept.is_allocated()) {
    kept = Bytes("ceilings::large", beyond_caches() / sizeof(double));
    Kokkos::push_finalize_hook([] { kept = Bytes(); });
  }
  return kept;
}

} // namespace

Ceilings measure_ceilings() {
  Ceilings c;
  c.flops_per_second_f32 = gemm_rate<float>(), c.flops_per_second_f64 = gemm_rate<double>();
  const Bytes &from = large_array(), to("ceilings::to", from.size());
  c.bytes_per_second =
      2.0 * sizeof(double) * double(from.size()) / best_seconds(5, [&] { Kokkos::deep_copy(to, from); });
  return c;
}

void flush_caches() {
  Kokkos::deep_copy(large_array(), 0.0); // pushes everything else out
  Kokkos::fence();
}

} // namespace recollect
