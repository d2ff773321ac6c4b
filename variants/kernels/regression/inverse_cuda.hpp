// SPDX-License-Identifier: Apache-2.0
// An inverse matrix A under rank-one updates on CUDA, for rows of at most 64 numbers. Steps are computed one by one, as
// in the definition. A stays in a team's registers, a quarter of a row per thread, so that a step takes one barrier and
// no device memory. Updates in blocks (regression.hpp) would take a factorisation per block.
//
//   A_t = (A_{t-1} - z z^T / d) / alpha_t,   z = A_{t-1} u_t,   d = alpha_t + u_t . z
#pragma once
#ifdef __CUDACC__
#include "harness/device/tile/tile.hpp"

namespace recollect::variants {

/// The output: reads b_t = A_t x_t, or gains z / d, which equal A_t u_t.
enum class Inverse { reads, gains, forgetting_gains }; // alpha is 1 except for forgetting_gains
template <class Number, Inverse kind> struct InverseInRegisters {
  using Real = Number;
  static constexpr bool reads = kind == Inverse::reads, forgets = kind == Inverse::forgetting_gains, on_chip = true;
  static constexpr int most_width = 64, quarters = 4, own = most_width / quarters;
  static constexpr int threads = most_width * quarters, teams_at_once = sizeof(Real) == 4 ? 2 : 1;
  static constexpr int ahead = 16;                      // steps whose rows are fetched together
  static constexpr int pitch = own + 16 / sizeof(Real); // padded: quarters of a row start in different banks
  static constexpr int row = quarters * pitch;          // numbers of a row in shared memory
  static constexpr int rows = (1 + reads) * ahead, stage = rows * row + ahead,
                       fetched = rows * most_width / threads; // numbers that a thread fetches

  HeadArrays<Real> heads; // A [F,F] lies below the Dv rows of another matrix in the state
  Array<Real> u, x;       // [B,H,T,F]
  Array<Real> alpha;      // [B,H,T]
  // For reads: number of steps between additions of eta I to A (0: never). The row below A counts the steps.
  int refresh;
  Real eta;
  Array<Real> b;      // [B,H,T,F]
  Array<Real> starts; // [B,H,T/C,F,F] receives A at the chunks' starts, and the state stays unchanged; or empty

  static bool supports(const Call<Real> &call) { return call.shape.Dk <= most_width; }
  void run_on(const std::string &label, const Call<Real> &call) const {
    run<Real>({label, call.shape.heads(), threads, call.math}, *call.arena, 2 * stage + 2 * row, *this);
  }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t index, Real *memory) const {
#ifdef __CUDA_ARCH__
    const Head<Real> h = heads.head(index);
    const int F = h.Dk, T = h.T, i = team.rank / quarters, side = team.rank % quarters, first = side * own;
    const bool keeps = starts.extent(0), writes = side == 0 && i < F;
    Real *const state = h.state + size_t(h.Dv) * F, *const count = state + size_t(F) * F + F;
    Real *const z = memory + 2 * stage; // [2,row] z of even and of odd steps
    Real *start = starts.data() + index * ((T - 1) / h.chunk + 1) * F * F, *out = b.data() + index * T * F + i;
    Real A[own];
#pragma unroll
    for (int j = 0; j < own; ++j) A[j] = i < F && first + j < F ? state[size_t(i) * F + first + j] : Real(0);
    int since = reads && refresh > 0 && count[0] >= 0 && count[0] < refresh ? int(count[0]) : 0, to_start = 0;

    Rows next;
    fetch(team, h, 0, next);
    for (int begin = 0, here = 0; begin < T; begin += ahead, here = 1 - here) {
      Real *const staged = memory + here * stage;
      put(team, next, staged);
      team.barrier();
      if (begin + ahead < T) fetch(team, h, begin + ahead, next);
      const Real *penalty = staged;
      const int steps = T - begin < ahead ? T - begin : ahead;
#pragma unroll 2
      for (int t = 0; t < steps; ++t, penalty += row, out += F) {
        if (keeps && to_start-- == 0) {
          write(i, first, F, A, start);
          start += F * F, to_start = h.chunk - 1;
        }
        Real *const column = z + t % 2 * row;
        Real mine[own], other[own], key[own];
        tile::cuda::take(penalty + side * pitch, mine);
        const Real own_z = tile::cuda::across_four(product(A, mine));
        if (side == 0) column[place(i)] = own_z;
        if constexpr (reads) tile::cuda::take(penalty + ahead * row + side * pitch, key);
        const Real read = reads ? tile::cuda::across_four(product(A, key)) : Real(0);
        team.meet();
        tile::cuda::take(column + side * pitch, other);
        const Real noise = forgets ? staged[rows * row + t] : Real(1);
        const Real over = 1 / (noise + tile::cuda::across_four(product(mine, other))), factor = own_z * over;
#pragma unroll
        for (int j = 0; j < own; ++j) A[j] = fma(-over, own_z * other[j], A[j]); // exactly symmetric
        if constexpr (forgets) grow(noise, A);
        Real value = factor;
        if constexpr (reads) {
          value = fma(-factor, tile::cuda::across_four(product(key, other)), read);
          since = since + 1 == refresh ? 0 : since + 1;
          if (since == 0 && refresh > 0) {
#pragma unroll
            for (int j = 0; j < own; ++j)
              if (first + j == i && i < F) A[j] += eta;
            value += eta * penalty[ahead * row + place(i)];
          }
        }
        if (writes) *out = value;
      }
    }
    if (keeps) return;
    write(i, first, F, A, state);
    if (reads) once(team, [=, *this] { count[0] = refresh > 0 ? Real(since) : Real(0); });
#else
    (void)team, (void)index, (void)memory;
#endif
  }

#ifdef __CUDA_ARCH__
private:
  /// What a thread fetches for some steps: elements of u and x, and one alpha.
  struct Rows {
    Real x[fetched], alpha;
  };

  /// Index of element j of a row in shared memory.
  __device__ static int place(int j) { return j / own * pitch + j % own; }

  /// Fetches the rows of the next steps. Elements past the width or past the end of the sequence are 0.
  __device__ void fetch(const Team &team, const Head<Real> &h, int begin, Rows &to) const {
    const int j = team.rank % most_width, first = team.rank / most_width;
#pragma unroll
    for (int n = 0; n < fetched; ++n) {
      const int line = first + n * quarters, t = begin + line % ahead;
      const Array<Real> &from = n * quarters < ahead ? u : x;
      to.x[n] = j < h.Dk && t < h.T ? from[(h.index * h.T + t) * h.Dk + j] : Real(0);
    }
    const int t = begin + team.rank;
    to.alpha = forgets && team.rank < ahead && t < h.T ? alpha[h.index * h.T + t] : Real(1);
  }
  __device__ static void put(const Team &team, const Rows &from, Real *to) {
    const int j = team.rank % most_width, first = team.rank / most_width;
#pragma unroll
    for (int n = 0; n < fetched; ++n) to[(first + n * quarters) * row + place(j)] = from.x[n];
    if (forgets && team.rank < ahead) to[rows * row + team.rank] = from.alpha;
  }

  /// Sums in four independent parts, which hides the latency of an addition.
  __device__ static Real product(const Real (&a)[own], const Real (&b)[own]) {
    Real sum[4] = {};
#pragma unroll
    for (int j = 0; j < own; ++j) sum[j % 4] = fma(a[j], b[j], sum[j % 4]);
    return sum[0] + sum[1] + (sum[2] + sum[3]);
  }
  /// Divides A by noise: multiplies by 1 / noise, unless that overflows.
  __device__ static void grow(Real noise, Real (&A)[own]) {
    const Real by = 1 / noise;
    const bool within = isfinite(by);
#pragma unroll
    for (int j = 0; j < own; ++j) A[j] = within ? A[j] * by : A[j] / noise;
  }
  __device__ static void write(int i, int first, int F, const Real (&A)[own], Real *to) {
#pragma unroll
    for (int j = 0; j < own; ++j)
      if (i < F && first + j < F) to[size_t(i) * F + first + j] = A[j];
  }
#endif
};

} // namespace recollect::variants
#endif
