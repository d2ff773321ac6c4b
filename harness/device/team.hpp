// SPDX-License-Identifier: Apache-2.0
// The threads that work on one unit together: one thread on a CPU, where units run in parallel; a thread block on a
// GPU.
#pragma once
#include "harness/core/types.hpp"
#include "harness/device/launch_space.hpp"

namespace recollect {

struct Team {
  int rank = 0, size = 1;
  Math math = Math::exact; // precision of tile::gemm

  /// What any thread of the team wrote before the barrier is visible to all of its threads after the barrier.
  KOKKOS_FUNCTION void barrier() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory"); // asynchronous copies that tile::stage started
#endif
    meet();
  }
  /// Like barrier(), but does not wait for asynchronous copies.
  KOKKOS_FUNCTION void meet() const {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    __syncthreads();
#endif
  }
};

/// A team whose precision of products is known at compile time.
template <Math math_> struct Precise : Team {
  KOKKOS_FUNCTION explicit Precise(const Team &team) : Team{team.rank, team.size, math_} {}
};

/// Calls f(i) for i in 0 ... n-1, shared among the team's threads. No barrier.
template <class F> KOKKOS_FUNCTION void each(const Team &team, int n, const F &f) {
  for (int i = team.rank; i < n; i += team.size) f(i);
}

/// Calls f(i, j) for every cell of a rows x columns rectangle; consecutive j run in parallel. No barrier.
template <class F> KOKKOS_FUNCTION void each_cell(const Team &team, int rows, int columns, const F &f) {
  constexpr int side = on_host ? 1 : 32; // adjacent threads along a row
  for (int i = team.rank / side; i < rows; i += team.size / side)
    for (int j = team.rank % side; j < columns; j += side) f(i, j);
}

/// Calls f(i, first, step) for every row i on each thread of the row. The thread handles the elements first, first +
/// step, ... of the row. No barrier.
template <class F> KOKKOS_FUNCTION void each_row(const Team &team, int rows, const F &f) {
  constexpr int side = on_host ? 1 : 32;
  for (int i = team.rank / side; i < rows; i += team.size / side) f(i, team.rank % side, side);
}

/// A barrier of the threads that share a row: writes before it are visible to all of these threads after it.
KOKKOS_FUNCTION inline void row_barrier() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#elif defined(__HIP_DEVICE_COMPILE__)
  __threadfence_block(); // a row's threads run in lockstep
#endif
}

/// Applies join() to the values of the threads that share a row. Each of them gets the result.
template <class Real, class Join> KOKKOS_FUNCTION Real across_row(Real value, const Join &join) {
#if defined(__CUDA_ARCH__)
  for (int offset = 16; offset > 0; offset /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, offset));
#elif defined(__HIP_DEVICE_COMPILE__)
  for (int offset = 16; offset > 0; offset /= 2) value = join(value, __shfl_xor(value, offset, 32));
#else
  (void)join;
#endif
  return value;
}

/// Each thread of a row has 32 values x. Sums them over the row's threads; thread l returns the sum of x[l], and x is
/// overwritten. On a CPU a row has one thread, which returns x[0].
template <class Real> KOKKOS_FUNCTION Real sums_across_row(Real (&x)[32]) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  const int lane = threadIdx.x % 32;
  RECOLLECT_UNROLL
  for (int level = 0; level < 5; ++level) {
    // Two threads exchange values: each keeps one half of its values and adds the other thread's values of this half.
    const int half = 16 >> level;
    const bool upper = lane & half;
    RECOLLECT_UNROLL
    for (int s = 0; s < 16; ++s) {
      if (s >= half) continue;
      const Real kept = upper ? x[s + half] : x[s], given = upper ? x[s] : x[s + half];
#if defined(__CUDA_ARCH__)
      x[s] = kept + __shfl_xor_sync(0xffffffffu, given, half);
#else
      x[s] = kept + __shfl_xor(given, half, 32);
#endif
    }
  }
#endif
  return x[0];
}

/// Calls f() on one thread of the team. No barrier.
template <class F> KOKKOS_FUNCTION void once(const Team &team, const F &f) {
  if (team.rank == 0) f();
}

constexpr int reduce_buffer = 32; // numbers in a GPU's shared memory that reduce() uses besides a kernel's scratch
/// Applies join() to `start` and value(0) ... value(n-1). Every thread gets the result. Barriers inside.
template <class Real, class Value, class Join>
KOKKOS_FUNCTION Real reduce(const Team &team, int n, Real start, const Value &value, const Join &join) {
  Real result = start;
  each(team, n, [&](int i) { result = join(result, value(i)); });
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  __shared__ Real partial[reduce_buffer]; // one per warp: there are at most 1024 threads
  result = across_row(result, join);
  team.barrier();
  if (team.rank % 32 == 0) partial[team.rank / 32] = result;
  team.barrier();
  result = partial[0];
  for (int row = 1; row < team.size / 32; ++row) result = join(result, partial[row]);
#endif
  return result;
}

template <class Real, class Term> KOKKOS_FUNCTION Real sum_of(int n, const Term &term) {
  if constexpr (!std::is_floating_point_v<Real>) { // for counted.hpp and taped.hpp there is nothing to vectorise
    Real sum = 0;
    for (int i = 0; i < n; ++i) sum += term(i);
    return sum;
  }
  constexpr int lanes = 8; // independent partial sums, which vectorise without reassociation
  Real sum[lanes] = {};
  int i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) sum[l] += term(i + l);
  Real total = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  for (; i < n; ++i) total += term(i);
  return total;
}

template <class Real> KOKKOS_FUNCTION Real dot(const Real *a, const Real *b, int n) {
  return sum_of<Real>(n, [=](int i) { return a[i] * b[i]; });
}

/// The inner product x . y, computed by the threads that share a row. Each of them gets the result.
template <class Real> KOKKOS_FUNCTION Real row_dot(const Real *x, const Real *y, int n, int first, int side) {
  if constexpr (on_host) return dot(x, y, n);
  Real sum = 0;
  for (int j = first; j < n; j += side) sum += x[j] * y[j];
  return across_row(sum, [](Real a, Real b) { return a + b; });
}

} // namespace recollect
