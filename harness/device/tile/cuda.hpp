// SPDX-License-Identifier: Apache-2.0
// The product of tile.hpp on CUDA. A warp computes blocks of 16 rows on the tensor cores, and loads the operands from
// shared memory to registers. Copies to shared memory are asynchronous.
#pragma once
#ifdef __CUDACC__
#include "harness/device/tile/operands_cuda.hpp"
#include "harness/device/tile/portable.hpp"

namespace recollect::tile::cuda {

/// A team whose products are function calls, for large kernels. A call makes a small product slower, by a sixth.
struct ByCall : Team {};

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)

/// sum += A B over the terms before `end`.
template <class Unit, int N, class Real, class Operands>
__device__ __forceinline__ void accumulate(Operands operands, int end, Results<Real> (&sum)[N]) {
#pragma unroll 2
  for (int p = 0; p < end; p += 8 * Unit::groups) {
    Group<Real, N> here[Unit::groups];
#pragma unroll
    for (int i = 0; i < Unit::groups; ++i) {
      operands.load(p + 8 * i, end, here[i]);
      operands.advance();
    }
    Unit::add(here, sum);
  }
}

template <class Real, int N> struct Block { Results<Real> columns[N]; };
/// Adds the product to a block that `Whole` does not support. The function is not inlined, because it is rarely called.
template <class Unit, int N, class Real>
__device__ __noinline__ Block<Real, N> add_cut(Product<Real> x, int i0, int m, int j0, int n, int lane, int end,
                                               Block<Real, N> sum) {
  accumulate<Unit>(Cut<Real, N>(x, i0, m, j0, n, lane), end, sum.columns);
  return sum;
}

/// Whether the block at (i0, j0) lies within m x n. If m and n are known at compile time, so is the result.
template <int N> __device__ bool within(int i0, int m, int j0, int n) {
  return (m % height == 0 && n % (8 * N) == 0) || (i0 + height <= m && j0 + 8 * N <= n);
}

/// Whether the rows of a block at row i0 end at different terms of the sum (Product::given).
template <class Real> __device__ bool masked(const Product<Real> &x, int i0) {
  return x.given.end(i0, x.k) < x.given.end(i0 + height - 1, x.k);
}

template <class Unit, int N, class Real>
__device__ __forceinline__ void add_product(const Product<Real> &x, int i0, int m, int j0, int n, int lane,
                                            Results<Real> (&sum)[N]) {
  constexpr int step = 8 * Unit::groups;
  int end = x.given.end(i0 + height - 1 < m ? i0 + height - 1 : m - 1, x.k);
  if (end <= 0) return;
  // A is zero beyond `end`. If rows end at different terms, blocks() detects results that are not finite.
  if (const int rounded = (end + step - 1) / step * step; rounded <= x.k && masked(x, i0)) end = rounded;
  const bool whole = within<N>(i0, m, j0, n) && end % step == 0 && regular(x);
  if (!whole) {
    Block<Real, N> block;
#pragma unroll
    for (int c = 0; c < N; ++c) block.columns[c] = sum[c];
    block = add_cut<Unit, N, Real>(x, i0, m, j0, n, lane, end, block);
#pragma unroll
    for (int c = 0; c < N; ++c) sum[c] = block.columns[c];
  } else if (x.A.column == 1 && x.B.row == 1)
    accumulate<Unit>(Whole<Real, N, true, true>(x, i0, m, j0, n, lane), end, sum);
  else if (x.A.column == 1)
    accumulate<Unit>(Whole<Real, N, true, false>(x, i0, m, j0, n, lane), end, sum);
  else if (x.B.row == 1)
    accumulate<Unit>(Whole<Real, N, false, true>(x, i0, m, j0, n, lane), end, sum);
  else
    accumulate<Unit>(Whole<Real, N, false, false>(x, i0, m, j0, n, lane), end, sum);
}

/// Two adjacent numbers, accessed at once if `together`.
template <class Real> struct Pair {
  bool together;
  __device__ static bool aligned(const Real *at, std::ptrdiff_t ld) {
    return reinterpret_cast<std::uintptr_t>(at) % (2 * sizeof(Real)) == 0 && ld % 2 == 0;
  }
  struct alignas(2 * sizeof(Real)) Both {
    Real first, second;
  };
  __device__ Both load(const Real *from) const {
    return together ? *reinterpret_cast<const Both *>(from) : Both{from[0], from[1]};
  }
  __device__ void store(Real first, Real second, Real *to) const {
    if (together)
      *reinterpret_cast<Both *>(to) = {first, second};
    else
      to[0] = first, to[1] = second;
  }
};

/// Writes results x: C = beta C + alpha x.
template <class Real> struct Scaled {
  Real alpha, beta, *C;
  std::ptrdiff_t ldc;
  static constexpr bool everywhere = false; // false: blocks without wanted results are skipped
  __device__ void element(int i, int j, Real x) const {
    Real &to = C[i * ldc + j];
    to = beta == 0 ? alpha * x : beta * to + alpha * x;
  }
  /// Writes x[c] to (i, j + 8 c) and its right neighbour.
  template <int N> __device__ void row(int i, int j, const Real (&x)[N][2]) const {
    Real *const to = C + i * ldc + j;
    const Pair<Real> pair{Pair<Real>::aligned(C, ldc)};
#pragma unroll
    for (int c = 0; c < N; ++c) {
      Real first = alpha * x[c][0], second = alpha * x[c][1];
      if (beta != 0) {
        const auto old = pair.load(to + 8 * c);
        first += beta * old.first, second += beta * old.second;
      }
      pair.store(first, second, to + 8 * c);
    }
  }
};

/// Computes a block from the terms that count (Product::given) only. In the other terms A is zero, but B may be
/// infinite.
template <class Real, class Out>
__device__ __noinline__ void scalar_fallback(int lane, int i0, int m, int j0, int n, Product<Real> first,
                                             Product<Real> second, Out out) {
  for (int i = i0; i < i0 + height && i < m; ++i)
    for (int j = j0 + lane; j < n; j += 32) {
      Real sum[1][1] = {};
      portable::accumulate(first, i, 1, j, 1, sum);
      if (second.k > 0) portable::accumulate(second, i, 1, j, 1, sum);
      out.element(i, j, sum[0][0]);
    }
}

/// Computes all blocks of 16 x 8 N results. The warps of the team share the blocks.
template <class Unit, int N, class Real, class Out>
__device__ __forceinline__ void blocks(const Team &team, int m, int n, const Product<Real> &first,
                                       const Product<Real> &second, const Out &out) {
  const int lane = team.rank % 32, across = (n + 8 * N - 1) / (8 * N), down = (m + height - 1) / height;
  for (int block = team.rank / 32; block < across * down; block += team.size / 32) {
    const int i0 = block / across * height, j0 = block % across * 8 * N;
    const bool wanted = first.wanted.end(i0 + height - 1, n) > j0;
    if (!wanted && !Out::everywhere) continue;
    Results<Real> sum[N];
    if (wanted) {
      add_product<Unit>(first, i0, m, j0, n, lane, sum);
      if (second.k > 0) add_product<Unit>(second, i0, m, j0, n, lane, sum);
    }
    if (masked(first, i0) || (second.k > 0 && masked(second, i0))) {
      Real sign = 0; // becomes NaN if a result is not finite
#pragma unroll
      for (int c = 0; c < N; ++c)
#pragma unroll
        for (int e = 0; e < 4; ++e) sign = fma(sum[c].x[e], Real(0), sign);
      if (__any_sync(0xffffffffu, sign != sign)) {
        const int end = j0 + 8 * N;
        scalar_fallback(lane, i0, m, j0, end < n ? end : n, first, second, out);
        continue;
      }
    }
    const bool whole = within<N>(i0, m, j0, n);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = i0 + lane / 4 + 8 * r, j = j0 + lane % 4 * 2;
      if (whole) {
        Real x[N][2];
#pragma unroll
        for (int c = 0; c < N; ++c) x[c][0] = sum[c].x[2 * r], x[c][1] = sum[c].x[2 * r + 1];
        out.row(i, j, x);
      } else if (i < m) {
#pragma unroll
        for (int c = 0; c < N; ++c)
#pragma unroll
          for (int e = 0; e < 2; ++e)
            if (j + 8 * c + e < n) out.element(i, j + 8 * c + e, sum[c].x[2 * r + e]);
      }
    }
  }
}

/// Uses wide blocks, unless they would leave warps without work.
template <class Unit, class Real, class Out>
__device__ __forceinline__ void in_blocks(const Team &team, int m, int n, const Product<Real> &first,
                                          const Product<Real> &second, const Out &out) {
  if ((m + height - 1) / height * ((n + 31) / 32) >= team.size / 32)
    blocks<Unit, 4>(team, m, n, first, second, out);
  else
    blocks<Unit, 2>(team, m, n, first, second, out);
}

/// Like in_blocks(), in the team's precision. It is inlined, so that the compiler knows the layout of the operands and
/// keeps it in registers. If the team's precision is known only at run time and is not exact, it does nothing and
/// returns false.
template <class Out>
__device__ __forceinline__ bool in_line(const Team &team, int m, int n, const Product<float> &first,
                                        const Product<float> &second, const Out &out) {
  if (team.math != Math::exact) return false;
  in_blocks<Exact>(team, m, n, first, second, out);
  return true;
}
template <Math math, class Out>
__device__ __forceinline__ bool in_line(const Precise<math> &team, int m, int n, const Product<float> &first,
                                        const Product<float> &second, const Out &out) {
  in_blocks<UnitOf<math>>(team, m, n, first, second, out);
  return true;
}
/// The product in a reduced precision that is known only at run time. It is not inlined, because it is rarely called.
__device__ __noinline__ inline void coarse_gemm(Team team, int m, int n, Product<float> first, Product<float> second,
                                                Scaled<float> out) {
  if (team.math == Math::tf32)
    in_blocks<Tf32>(team, m, n, first, second, out);
  else
    in_blocks<Bf16>(team, m, n, first, second, out);
}
template <class Out>
__device__ __noinline__ void exact_gemm(Team team, int m, int n, Product<float> first, Product<float> second, Out out) {
  in_blocks<Exact>(team, m, n, first, second, out);
}
template <class Out>
__device__ __forceinline__ bool in_line(const ByCall &team, int m, int n, const Product<float> &first,
                                        const Product<float> &second, const Out &out) {
  if (team.math != Math::exact) return false;
  exact_gemm(team, m, n, first, second, out);
  return true;
}
template <class AnyTeam>
__device__ __forceinline__ void gemm(const AnyTeam &team, int m, int n, float alpha, const Product<float> &first,
                                     const Product<float> &second, float beta, float *C, std::ptrdiff_t ldc) {
  const Scaled<float> out{alpha, beta, C, ldc};
  if (!in_line(team, m, n, first, second, out)) coarse_gemm(team, m, n, first, second, out);
}
/// The function is not inlined: a float64 product takes so long that the cost of a call does not matter, and kernels
/// compile in half the time.
__device__ __noinline__ inline void gemm(Team team, int m, int n, double alpha, Product<double> first,
                                         Product<double> second, double beta, double *C, std::ptrdiff_t ldc) {
  in_blocks<Float64>(team, m, n, first, second, Scaled<double>{alpha, beta, C, ldc});
}

#endif

/// Copies 16 bytes. If `apart`, the copy is asynchronous, from global to shared memory.
__device__ __forceinline__ void move_16(const void *from, void *to, bool apart) {
#if __CUDA_ARCH__ >= 800
  if (apart) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(std::uint32_t(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
    return;
  }
#endif
  *static_cast<int4 *>(to) = *static_cast<const int4 *>(from);
}

/// to[rows,width] = from[rows,width]. A copy from global to shared memory is asynchronous; the team's next barrier
/// waits for it.
template <class Real>
__device__ void copy_rows(const Team &team, int rows, int width, const Real *from, std::ptrdiff_t ld, Real *to,
                          std::ptrdiff_t ldt) {
  constexpr int pack = 16 / sizeof(Real);
  const auto aligned = [](const Real *p, std::ptrdiff_t stride) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && stride % pack == 0;
  };
  if (width % pack == 0 && aligned(from, ld) && aligned(to, ldt)) {
    const int across = width / pack;
#if __CUDA_ARCH__ >= 800
    const bool apart = __isGlobal(from) && __isShared(to);
#else
    constexpr bool apart = false;
#endif
    const bool shifts = (across & (across - 1)) == 0; // divisions would take longer than the copy
    const int bits = __ffs(across) - 1, down = shifts ? team.size >> bits : team.size / across,
              rest = shifts ? team.size & (across - 1) : team.size % across;
    int i = shifts ? team.rank >> bits : team.rank / across,
        place = shifts ? team.rank & (across - 1) : team.rank % across;
    if (rest == 0) { // each thread keeps its column
      const Real *source = from + i * ld + place * pack;
      Real *target = to + i * ldt + place * pack;
      int done = 0;
#pragma unroll 4
      for (; done + down <= rows; done += down, source += down * ld, target += down * ldt)
        move_16(source, target, apart);
      if (done + i < rows) move_16(source, target, apart);
      return;
    }
    for (; i < rows; i += down, place += rest) {
      if (place >= across) {
        place -= across;
        if (++i >= rows) break;
      }
      move_16(from + i * ld + place * pack, to + i * ldt + place * pack, apart);
    }
    return;
  }
#if __CUDA_ARCH__ >= 800
  if (__isGlobal(from) && __isShared(to)) {
    each_cell(team, rows, width, [=](int i, int j) {
      asm volatile(
          "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(std::uint32_t(__cvta_generic_to_shared(to + i * ldt + j))),
          "l"(__cvta_generic_to_global(from + i * ld + j)), "n"(int(sizeof(Real)))
          : "memory");
    });
    return;
  }
#endif
  each_cell(team, rows, width, [=](int i, int j) { to[i * ldt + j] = from[i * ld + j]; });
}

} // namespace recollect::tile::cuda
#endif
