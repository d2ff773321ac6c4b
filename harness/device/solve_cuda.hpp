// SPDX-License-Identifier: Apache-2.0
// The triangular solve of tile.hpp on CUDA, for operands in shared memory. Each warp solves its own columns and never
// waits for another warp.
#pragma once
#ifdef __CUDACC__
#include "harness/device/tile/cuda.hpp"

namespace recollect::tile::cuda {

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)

/// x = (I + L)^{-1} x for one column of X [height,...]. Rows of L are aligned to 16 bytes.
template <class Real> __device__ __forceinline__ void substitute(const Real *L, int ldl, Real *X, int ldx) {
  constexpr int pack = 16 / sizeof(Real);
  Real x[height];
#pragma unroll
  for (int i = 0; i < height; ++i) x[i] = X[i * ldx];
#pragma unroll
  for (int i = 1; i < height; ++i)
#pragma unroll
    for (int first = 0; first < i; first += pack) {
      Real row[pack];
      take(L + i * ldl + first, row);
#pragma unroll
      for (int p = 0; p < pack; ++p)
        if (first + p < i) x[i] -= row[p] * x[first + p];
    }
#pragma unroll
  for (int i = 1; i < height; ++i) X[i * ldx] = x[i];
}

constexpr int solved_columns = 32; // columns that a warp solves at a time, one per lane
/// Whether solve_in_warps supports these operands.
template <class Real>
__device__ bool solves_in_warps(int n, int columns, const Real *L, std::ptrdiff_t ldl, const Real *X) {
  constexpr int pack = 16 / sizeof(Real);
  return n % height == 0 && columns % solved_columns == 0 && ldl % pack == 0 &&
         reinterpret_cast<std::uintptr_t>(L) % 16 == 0 && __isShared(L) && __isShared(X);
}
/// X[n,columns] = (I + L)^{-1} X, in blocks of 16 rows. Before a block is solved, the products of its rows of L with
/// the solved rows of X are subtracted from it. Ends with a barrier.
template <class Real>
__device__ __forceinline__ void solve_in_warps(const Team &team, int n, int columns, const Real *L, std::ptrdiff_t ldl,
                                               Real *X, std::ptrdiff_t ldx) {
  using Unit = std::conditional_t<std::is_same_v<Real, float>, Exact, Float64>;
  constexpr int N = solved_columns / 8;
  const int lane = team.rank % 32;
  for (int j = team.rank / 32 * solved_columns; j < columns; j += team.size / 32 * solved_columns)
#pragma unroll 1
    for (int i = 0; i < n; i += height) {
      Real *const own = X + i * ldx + j;
      if (i) {
        Results<Real> sum[N];
        const Product<Real> earlier{rows(L + i * ldl, ldl), rows<Real>(X + j, ldx), i};
        accumulate<Unit>(Whole<Real, N, true, false>(earlier, 0, height, 0, solved_columns, lane), i, sum);
        const Scaled<Real> out{Real(-1), Real(1), own, ldx};
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          Real x[N][2];
#pragma unroll
          for (int c = 0; c < N; ++c) x[c][0] = sum[c].x[2 * r], x[c][1] = sum[c].x[2 * r + 1];
          out.row(lane / 4 + 8 * r, lane % 4 * 2, x);
        }
        __syncwarp();
      }
      substitute(L + i * ldl + i, int(ldl), own + lane, int(ldx));
      __syncwarp();
    }
  team.barrier();
}

#endif

} // namespace recollect::tile::cuda
#endif
