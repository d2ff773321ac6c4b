// SPDX-License-Identifier: Apache-2.0
// tile.hpp's product on CUDA: a warp computes blocks of 16 rows on the tensor cores, with the mma instructions of PTX
// (mma.sync: part of CUDA since compute capability 8.0; float64 with 16 rows since 9.0).
//
// float32 goes in as TF32, which keeps 10 bits after the leading one; the instruction drops all others. `exact` splits
// each operand into two such parts, x = high + low to 2^-22 of x, high rounded and low cut off, and sums three products:
// high high, high low and low high. The instruction adds with truncation, so each step of 8 products starts from zero
// and is added to the running sum in float32, rounded to nearest (after Ootomo and Yokota 2022, arXiv:2203.03341).
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
struct Parts {
  std::uint32_t high, low;
};
/// NaN may leave the high part, but never the low one.
__device__ inline Parts split(float x) {
  const std::uint32_t high = (__float_as_uint(x) + 0x1000u) & ~0x1fffu;
  return {high, __float_as_uint(x - __uint_as_float(high))};
}
__device__ inline std::uint32_t to_bf16_pair(float low, float high) {
  std::uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

__device__ inline void mma_tf32(Results<float> &c, const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void mma_bf16(Results<float> &c, const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void mma_f64(Results<double> &c, double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+d"(c.x[0]), "+d"(c.x[1]), "+d"(c.x[2]), "+d"(c.x[3])
      : "d"(a0), "d"(a1), "d"(b));
#else
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(c.x[0]), "+d"(c.x[1])
      : "d"(a0), "d"(b));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(c.x[2]), "+d"(c.x[3])
      : "d"(a1), "d"(b));
#endif
}

/// One thread's elements of A and B in a group of 8 products: rows lane / 4 and lane / 4 + 8 of A, column lane / 4 of each
/// block of 8 columns of B, two places of the sum each. Which two of the eight a lane takes is free, if A and B agree.
template <class Real, int N> struct Group { Real a[2][2], b[N][2]; };

/// A number in shared memory.
__device__ inline float load_shared(std::uint32_t at, float) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(at));
  return x;
}
__device__ inline double load_shared(std::uint32_t at, double) {
  double x;
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(at));
  return x;
}
/// Four 8 x 4 blocks of numbers whose rows start where lanes 0 ... 7, 8 ... 15, 16 ... 23 and 24 ... 31 say: of each the
/// number (lane / 4, lane % 4).
__device__ inline void load_blocks(std::uint32_t at, float &x0, float &x1, float &x2, float &x3) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=f"(x0), "=f"(x1), "=f"(x2), "=f"(x3)
               : "r"(at));
}
__device__ inline void load_blocks(std::uint32_t at, float &x0, float &x1) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=f"(x0), "=f"(x1) : "r"(at));
}

/// Elements of a block that lies within the product, of operands in shared memory that lie along the sum (inner) or along
/// their other index. A lane takes the places lane % 4 and lane % 4 + 4 of each eight.
template <class Real, int N, bool a_inner, bool b_inner> struct Whole {
  static constexpr int size = sizeof(Real);
  static constexpr bool blocks = size == 4; // of four, for the instruction that loads them
  std::uint32_t a[2], b[N > 2 ? N : 2], a_step, b_step;

  __device__ Whole(const Product<Real> &x, int i0, int, int j0, int, int lane) {
    const std::uint32_t A = std::uint32_t(__cvta_generic_to_shared(x.A.data)),
                        B = std::uint32_t(__cvta_generic_to_shared(x.B.data));
    const int tile = lane / 8, row = lane % 8, i = i0 + lane / 4, j = j0 + lane / 4, p = lane % 4;
    a_step = 8 * size * (a_inner ? 1 : int(x.A.column)), b_step = 8 * size * (b_inner ? 1 : int(x.B.row));
    if (a_inner && blocks)
      a[0] = A + size * ((i0 + row + tile % 2 * 8) * int(x.A.row) + tile / 2 * 4);
    else
#pragma unroll
      for (int e = 0; e < 2; ++e)
        a[e] = A + size * (a_inner ? (i + 8 * e) * int(x.A.row) + p : i + (p + 4 * e) * int(x.A.column));
    if (b_inner && blocks)
#pragma unroll
      for (int c = 0; c < N; c += 2)
        b[c] = B + size * ((j0 + 8 * c + row + tile / 2 % N * 8) * int(x.B.column) + tile % 2 * 4);
    else if (b_inner)
#pragma unroll
      for (int c = 0; c < N; ++c) b[c] = B + size * ((j + 8 * c) * int(x.B.column) + p);
    else
#pragma unroll
      for (int e = 0; e < 2; ++e) b[e] = B + size * (j + (p + 4 * e) * int(x.B.row));
  }
  __device__ void load(int, int, Group<Real, N> &g) const {
    if constexpr (a_inner && blocks)
      load_blocks(a[0], g.a[0][0], g.a[1][0], g.a[0][1], g.a[1][1]);
    else
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          g.a[r][e] = load_shared(a_inner ? a[r] + 4 * size * e : a[e] + 8 * size * r, Real());
    if constexpr (b_inner && blocks) {
      if constexpr (N == 1)
        load_blocks(b[0], g.b[0][0], g.b[0][1]);
      else
#pragma unroll
        for (int c = 0; c < N; c += 2) load_blocks(b[c], g.b[c][0], g.b[c][1], g.b[c + 1][0], g.b[c + 1][1]);
    } else
#pragma unroll
      for (int c = 0; c < N; ++c)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          g.b[c][e] = load_shared(b_inner ? b[c] + 4 * size * e : b[e] + 8 * size * c, Real());
  }
  __device__ void advance() {
#pragma unroll
    for (std::uint32_t &each : a) each += a_step;
#pragma unroll
    for (std::uint32_t &each : b) each += b_step;
  }
};

/// Any block: past its edges the last row or column is read again, whose results are not stored, and past the sum's end
/// A counts as 0.
template <class Real, int N> struct Cut {
  const Real *a[2], *b[N];
  int a_step, b_step, place;

  __device__ Cut(const Product<Real> &x, int i0, int m, int j0, int n, int lane)
      : a_step(int(x.A.column)), b_step(int(x.B.row)), place(lane % 4) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = i0 + lane / 4 + 8 * r;
      a[r] = x.A.data + (i < m ? i : m - 1) * x.A.row;
    }
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const int j = j0 + 8 * c + lane / 4;
      b[c] = x.B.data + (j < n ? j : n - 1) * x.B.column;
    }
  }
  __device__ void load(int p, int end, Group<Real, N> &g) const {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int at = p + place + 4 * e, last = at < end ? at : end - 1;
#pragma unroll
      for (int r = 0; r < 2; ++r) g.a[r][e] = at < end ? a[r][last * a_step] : Real(0);
#pragma unroll
      for (int c = 0; c < N; ++c) g.b[c][e] = b[c][last * b_step];
    }
  }
  __device__ void advance() {}
};

struct Exact {
  static constexpr int groups = 1;
  template <int N> __device__ static void add(const Group<float, N> (&g)[1], Results<float> (&sum)[N]) {
    std::uint32_t a_high[4], a_low[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Parts x = split(g[0].a[e % 2][e / 2]);
      a_high[e] = x.high, a_low[e] = x.low;
    }
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const Parts first = split(g[0].b[c][0]), second = split(g[0].b[c][1]);
      const std::uint32_t b_high[2] = {first.high, second.high}, b_low[2] = {first.low, second.low};
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
  static constexpr int groups = 1;
  template <int N> __device__ static void add(const Group<float, N> (&g)[1], Results<float> (&sum)[N]) {
    std::uint32_t a[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) a[e] = to_tf32(g[0].a[e % 2][e / 2]);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const std::uint32_t b[2] = {to_tf32(g[0].b[c][0]), to_tf32(g[0].b[c][1])};
      mma_tf32(sum[c], a, b);
    }
  }
};
struct Bf16 {
  static constexpr int groups = 2;
  template <int N> __device__ static void add(const Group<float, N> (&g)[2], Results<float> (&sum)[N]) {
    std::uint32_t a[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) a[e] = to_bf16_pair(g[e / 2].a[e % 2][0], g[e / 2].a[e % 2][1]);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const std::uint32_t b[2] = {to_bf16_pair(g[0].b[c][0], g[0].b[c][1]), to_bf16_pair(g[1].b[c][0], g[1].b[c][1])};
      mma_bf16(sum[c], a, b);
    }
  }
};
struct Float64 {
  static constexpr int groups = 1;
  template <int N> __device__ static void add(const Group<double, N> (&g)[1], Results<double> (&sum)[N]) {
#pragma unroll
    for (int e = 0; e < 2; ++e)
#pragma unroll
      for (int c = 0; c < N; ++c) mma_f64(sum[c], g[0].a[0][e], g[0].a[1][e], g[0].b[c][e]);
  }
};

/// sum += A B over the places before `end`.
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

/// Whether both operands lie in shared memory, along one of their indices, rows of the inner one in whole 16 bytes.
template <class Real> __device__ bool regular(const Product<Real> &x) {
  const auto aligned = [](const Matrix<Real> &matrix, std::ptrdiff_t step) {
    return sizeof(Real) == 8 || (reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && step % 4 == 0);
  };
  return __isShared(x.A.data) && __isShared(x.B.data) && (x.A.column == 1 ? aligned(x.A, x.A.row) : x.A.row == 1) &&
         (x.B.row == 1 ? aligned(x.B, x.B.column) : x.B.column == 1);
}

template <class Real, int N> struct Block { Results<Real> columns[N]; };
/// A block that `Whole` does not serve: out of line, because it is rare.
template <class Unit, int N, class Real>
__device__ __noinline__ Block<Real, N> add_cut(Product<Real> x, int i0, int m, int j0, int n, int lane, int end,
                                               Block<Real, N> sum) {
  accumulate<Unit>(Cut<Real, N>(x, i0, m, j0, n, lane), end, sum.columns);
  return sum;
}

template <class Unit, int N, class Real>
__device__ __forceinline__ void add_product(const Product<Real> &x, int i0, int m, int j0, int n, int lane,
                                            Results<Real> (&sum)[N]) {
  const int end = x.given.end(i0 + height - 1 < m ? i0 + height - 1 : m - 1, x.k);
  if (end <= 0) return;
  const bool whole = i0 + height <= m && j0 + 8 * N <= n && end % (8 * Unit::groups) == 0 && regular(x);
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

/// All blocks of 16 x 8 N results, shared among the team's warps.
template <class Unit, int N, class Real>
__device__ __forceinline__ void blocks(const Team &team, int m, int n, Real alpha, const Product<Real> &first,
                                       const Product<Real> &second, Real beta, Real *C, std::ptrdiff_t ldc) {
  const int lane = team.rank % 32, across = (n + 8 * N - 1) / (8 * N), down = (m + height - 1) / height;
  for (int block = team.rank / 32; block < across * down; block += team.size / 32) {
    const int i0 = block / across * height, j0 = block % across * 8 * N;
    if (first.wanted.end(i0 + height - 1, n) <= j0) continue;
    Results<Real> sum[N];
    add_product<Unit>(first, i0, m, j0, n, lane, sum);
    if (second.k > 0) add_product<Unit>(second, i0, m, j0, n, lane, sum);
    Real *const out = C + (i0 + lane / 4) * ldc + j0 + lane % 4 * 2;
    const bool whole = i0 + height <= m && j0 + 8 * N <= n;
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int c = 0; c < N; ++c)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (!whole && (i0 + lane / 4 + 8 * r >= m || j0 + 8 * c + lane % 4 * 2 + e >= n)) continue;
          Real &to = out[8 * r * ldc + 8 * c + e];
          const Real x = alpha * sum[c].x[2 * r + e];
          to = beta == 0 ? x : beta * to + x;
        }
  }
}

/// Wide blocks, unless they would leave warps without one.
template <class Unit, class Real>
__device__ __forceinline__ void in_blocks(const Team &team, int m, int n, Real alpha, const Product<Real> &first,
                                          const Product<Real> &second, Real beta, Real *C, std::ptrdiff_t ldc) {
  if ((m + height - 1) / height * ((n + 31) / 32) >= team.size / 32)
    blocks<Unit, 4>(team, m, n, alpha, first, second, beta, C, ldc);
  else
    blocks<Unit, 1>(team, m, n, alpha, first, second, beta, C, ldc);
}

/// Out of line: the uncommon ones.
__device__ __noinline__ inline void coarse_gemm(const Team &team, int m, int n, float alpha,
                                                const Product<float> &first, const Product<float> &second, float beta,
                                                float *C, std::ptrdiff_t ldc) {
  if (team.math == Math::tf32)
    in_blocks<Tf32>(team, m, n, alpha, first, second, beta, C, ldc);
  else
    in_blocks<Bf16>(team, m, n, alpha, first, second, beta, C, ldc);
}
/// In line, so that how the operands lie is known to the compiler and they stay in registers.
__device__ __forceinline__ void gemm(const Team &team, int m, int n, float alpha, const Product<float> &first,
                                     const Product<float> &second, float beta, float *C, std::ptrdiff_t ldc) {
  if (team.math == Math::exact)
    in_blocks<Exact>(team, m, n, alpha, first, second, beta, C, ldc);
  else
    coarse_gemm(team, m, n, alpha, first, second, beta, C, ldc);
}
__device__ __forceinline__ void gemm(const Team &team, int m, int n, double alpha, const Product<double> &first,
                                     const Product<double> &second, double beta, double *C, std::ptrdiff_t ldc) {
  in_blocks<Float64>(team, m, n, alpha, first, second, beta, C, ldc);
}

#endif

/// to[rows,width] = from. From global to shared memory the copies are under way until the team's next barrier.
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
    const bool shifts = (across & (across - 1)) == 0; // divisions take longer than the copy
    const int bits = __ffs(across) - 1, down = shifts ? team.size >> bits : team.size / across,
              rest = shifts ? team.size & (across - 1) : team.size % across;
    int i = shifts ? team.rank >> bits : team.rank / across,
        place = shifts ? team.rank & (across - 1) : team.rank % across;
    for (; i < rows; i += down, place += rest) {
      if (place >= across) {
        place -= across;
        if (++i >= rows) break;
      }
      const int j = place * pack;
      if (!apart) *reinterpret_cast<int4 *>(to + i * ldt + j) = *reinterpret_cast<const int4 *>(from + i * ld + j);
#if __CUDA_ARCH__ >= 800
      else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         std::uint32_t(__cvta_generic_to_shared(to + i * ldt + j))),
                     "l"(__cvta_generic_to_global(from + i * ld + j))
                     : "memory");
#endif
    }
  } else
    each_cell(team, rows, width, [=](int i, int j) { to[i * ldt + j] = from[i * ld + j]; });
}

} // namespace recollect::tile::cuda
#endif
