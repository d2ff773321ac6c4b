// SPDX-License-Identifier: Apache-2.0
// tile.hpp's product on CUDA: a warp computes blocks of 16 rows on the tensor cores, with the mma instructions of PTX
// (mma.sync: part of CUDA since compute capability 8.0; float64 with 16 rows since 9.0).
//
// float32 goes in as TF32, which keeps 10 bits after the leading one. `exact` splits each operand into two such parts,
// x = high + low to 2^-22 of x, and sums three products: high high, high low and low high. The instruction adds with
// truncation, so each step of 8 products starts from zero and is added to the running sum in float32, rounded to
// nearest (after Ootomo and Yokota 2022, arXiv:2203.03341).
#pragma once
#ifdef __CUDACC__
#include "harness/device/matrix.hpp"
#include "harness/device/team.hpp"
#include <cstdint>

namespace recollect::tile::cuda {

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)

constexpr int height = 16; // rows of a block

/// One thread's share of a 16 x 8 block of results: (row, col), (row, col + 1), (row + 8, col), (row + 8, col + 1) with
/// row = lane / 4, col = lane % 4 * 2.
template <class Real> struct Results {
  Real x[4] = {};
};

__device__ inline std::uint32_t to_tf32(float x) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
__device__ inline std::uint32_t to_bf16_pair(float low, float high) {
  std::uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

__device__ inline void mma_tf32(Results<float> &c, const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void mma_bf16(Results<float> &c, const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void mma_f64(Results<double> &c, double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+d"(c.x[0]), "+d"(c.x[1]), "+d"(c.x[2]), "+d"(c.x[3])
               : "d"(a0), "d"(a1), "d"(b));
#else
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c.x[0]), "+d"(c.x[1])
               : "d"(a0), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c.x[2]), "+d"(c.x[3])
               : "d"(a1), "d"(b));
#endif
}

/// Where one thread finds its elements of A and B: rows lane / 4 and lane / 4 + 8 of A, column lane / 4 of each block of
/// 8 columns of B. Past the edge it reads the last row or column again; those results are not stored.
template <class Real, int N> struct Operands {
  const Real *a[2], *b[N];
  std::ptrdiff_t a_step, b_step;

  __device__ Operands(const Product<Real> &x, int i0, int m, int j0, int n, int lane)
      : a_step(x.A.column), b_step(x.B.row) {
    for (int r = 0; r < 2; ++r) {
      const int i = i0 + lane / 4 + 8 * r;
      a[r] = x.A.data + (i < m ? i : m - 1) * x.A.row;
    }
    for (int c = 0; c < N; ++c) {
      const int j = j0 + 8 * c + lane / 4;
      b[c] = x.B.data + (j < n ? j : n - 1) * x.B.column;
    }
  }
  __device__ Real A(int r, int p) const { return a[r][p * a_step]; }
  __device__ Real B(int c, int p) const { return b[c][p * b_step]; }
};

/// Steps p ... p + depth - 1 of the sum. From `end` on A counts as 0, and B is read at its last row again.
struct Exact {
  static constexpr int depth = 8;
  template <int N>
  __device__ static void add(const Operands<float, N> &x, int p, int end, int lane, Results<float> (&sum)[N]) {
    std::uint32_t a_high[4], a_low[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int at = p + lane % 4 + 4 * (e / 2);
      const float value = at < end ? x.A(e % 2, at) : 0.0f;
      a_high[e] = to_tf32(value), a_low[e] = to_tf32(value - __uint_as_float(a_high[e]));
    }
#pragma unroll
    for (int c = 0; c < N; ++c) {
      std::uint32_t b_high[2], b_low[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int at = p + lane % 4 + 4 * e;
        const float value = x.B(c, at < end ? at : end - 1);
        b_high[e] = to_tf32(value), b_low[e] = to_tf32(value - __uint_as_float(b_high[e]));
      }
      Results<float> step;
      mma_tf32(step, a_low, b_high);
      mma_tf32(step, a_high, b_low);
      mma_tf32(step, a_high, b_high);
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[c].x[e] += step.x[e];
    }
  }
};
struct Tf32 {
  static constexpr int depth = 8;
  template <int N>
  __device__ static void add(const Operands<float, N> &x, int p, int end, int lane, Results<float> (&sum)[N]) {
    std::uint32_t a[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int at = p + lane % 4 + 4 * (e / 2);
      a[e] = to_tf32(at < end ? x.A(e % 2, at) : 0.0f);
    }
#pragma unroll
    for (int c = 0; c < N; ++c) {
      std::uint32_t b[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int at = p + lane % 4 + 4 * e;
        b[e] = to_tf32(x.B(c, at < end ? at : end - 1));
      }
      mma_tf32(sum[c], a, b);
    }
  }
};
struct Bf16 {
  static constexpr int depth = 16;
  template <int N>
  __device__ static void add(const Operands<float, N> &x, int p, int end, int lane, Results<float> (&sum)[N]) {
    std::uint32_t a[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int at = p + lane % 4 * 2 + 8 * (e / 2);
      a[e] = to_bf16_pair(at < end ? x.A(e % 2, at) : 0.0f, at + 1 < end ? x.A(e % 2, at + 1) : 0.0f);
    }
#pragma unroll
    for (int c = 0; c < N; ++c) {
      std::uint32_t b[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int at = p + lane % 4 * 2 + 8 * e;
        b[e] = to_bf16_pair(x.B(c, at < end ? at : end - 1), x.B(c, at + 1 < end ? at + 1 : end - 1));
      }
      mma_bf16(sum[c], a, b);
    }
  }
};
struct Float64 {
  static constexpr int depth = 4;
  template <int N>
  __device__ static void add(const Operands<double, N> &x, int p, int end, int lane, Results<double> (&sum)[N]) {
    const int at = p + lane % 4, last = at < end ? at : end - 1;
    const double a0 = at < end ? x.A(0, at) : 0.0, a1 = at < end ? x.A(1, at) : 0.0;
#pragma unroll
    for (int c = 0; c < N; ++c) mma_f64(sum[c], a0, a1, x.B(c, last));
  }
};

template <class Unit, int N, class Real>
__device__ void accumulate(const Product<Real> &x, int i0, int m, int j0, int n, int lane, Results<Real> (&sum)[N]) {
  const int end = x.given.end(i0 + height - 1 < m ? i0 + height - 1 : m - 1, x.k);
  if (end <= 0) return;
  const Operands<Real, N> operands(x, i0, m, j0, n, lane);
  int p = 0;
#pragma unroll 2
  for (; p + Unit::depth <= end; p += Unit::depth) Unit::add(operands, p, 1 << 30, lane, sum); // no edge: checks fold
  if (p < end) Unit::add(operands, p, end, lane, sum);
}

/// All blocks of 16 x 8 N results, shared among the team's warps.
template <class Unit, int N, class Real>
__device__ void blocks(const Team &team, int m, int n, Real alpha, const Product<Real> &first,
                       const Product<Real> &second, Real beta, Real *C, std::ptrdiff_t ldc) {
  const int lane = team.rank % 32, across = (n + 8 * N - 1) / (8 * N), down = (m + height - 1) / height;
  for (int block = team.rank / 32; block < across * down; block += team.size / 32) {
    const int i0 = block / across * height, j0 = block % across * 8 * N;
    if (first.wanted.end(i0 + height - 1, n) <= j0) continue;
    Results<Real> sum[N];
    accumulate<Unit, N>(first, i0, m, j0, n, lane, sum);
    if (second.k > 0) accumulate<Unit, N>(second, i0, m, j0, n, lane, sum);
#pragma unroll
    for (int c = 0; c < N; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int i = i0 + lane / 4 + 8 * (e / 2), j = j0 + 8 * c + lane % 4 * 2 + e % 2;
        if (i >= m || j >= n) continue;
        Real &out = C[i * ldc + j];
        out = beta == 0 ? alpha * sum[c].x[e] : beta * out + alpha * sum[c].x[e];
      }
  }
}

/// As wide blocks as leave none of the warps without one.
template <class Unit, class Real>
__device__ void in_blocks(const Team &team, int m, int n, Real alpha, const Product<Real> &first,
                          const Product<Real> &second, Real beta, Real *C, std::ptrdiff_t ldc) {
  const int down = (m + height - 1) / height, warps = team.size / 32;
  if (down * ((n + 31) / 32) >= warps)
    blocks<Unit, 4>(team, m, n, alpha, first, second, beta, C, ldc);
  else if (down * ((n + 15) / 16) >= warps)
    blocks<Unit, 2>(team, m, n, alpha, first, second, beta, C, ldc);
  else
    blocks<Unit, 1>(team, m, n, alpha, first, second, beta, C, ldc);
}

/// Out of line: a kernel calls it many times.
__device__ __noinline__ inline void gemm(const Team &team, int m, int n, float alpha, const Product<float> &first,
                                         const Product<float> &second, float beta, float *C, std::ptrdiff_t ldc) {
  if (team.math == Math::exact)
    in_blocks<Exact>(team, m, n, alpha, first, second, beta, C, ldc);
  else if (team.math == Math::tf32)
    in_blocks<Tf32>(team, m, n, alpha, first, second, beta, C, ldc);
  else
    in_blocks<Bf16>(team, m, n, alpha, first, second, beta, C, ldc);
}
__device__ __noinline__ inline void gemm(const Team &team, int m, int n, double alpha, const Product<double> &first,
                                         const Product<double> &second, double beta, double *C, std::ptrdiff_t ldc) {
  in_blocks<Float64>(team, m, n, alpha, first, second, beta, C, ldc);
}

#endif

/// to[rows,width] = from, with 16-byte accesses where both allow them.
template <class Real>
__device__ void copy_rows(const Team &team, int rows, int width, const Real *from, std::ptrdiff_t ld, Real *to,
                          std::ptrdiff_t ldt) {
  constexpr int pack = 16 / sizeof(Real);
  const auto aligned = [](const Real *p, std::ptrdiff_t stride) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && stride % pack == 0;
  };
  if (width % pack == 0 && aligned(from, ld) && aligned(to, ldt)) {
    const int across = width / pack, all = rows * across;
#pragma unroll 4
    for (int unit = team.rank; unit < all; unit += team.size) {
      const int i = unit / across, j = unit % across * pack;
      *reinterpret_cast<int4 *>(to + i * ldt + j) = *reinterpret_cast<const int4 *>(from + i * ld + j);
    }
  } else
    each_cell(team, rows, width, [=](int i, int j) { to[i * ldt + j] = from[i * ld + j]; });
}

} // namespace recollect::tile::cuda
#endif
