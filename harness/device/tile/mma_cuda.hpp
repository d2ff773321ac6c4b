// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of a warp: mma.sync of PTX, for compute capability 8.0 and later; float64 with 16 rows needs
// 9.0. The structs Exact, Tf32, Bf16 and Float64 multiply 16 rows of A by N blocks of 8 columns of B, over 8 terms of
// the sum at a time (Bf16: 16 terms). float32 operands are passed as TF32, which has 10 bits after the leading bit; the
// instruction ignores the further bits. Exact splits each operand into two such parts: x = high + low up to an error of
// 2^-22 of x, with high rounded and low truncated. It sums three products: high high, high low and low high. The
// instruction truncates when it adds. So the sum of each 8 terms starts from zero, and is added to the running sum in
// float32, rounded to nearest (after Ootomo and Yokota 2022, arXiv:2203.03341).
#pragma once
#ifdef __CUDACC__
#include "harness/core/types.hpp"
#include <cstdint>
#include <type_traits>

namespace recollect::tile::cuda {

constexpr int height = 16; // number of rows per block

/// The sum over the four adjacent lanes that share a row of results.
template <class Real> __device__ __forceinline__ Real across_four(Real x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

/// Loads N adjacent numbers, aligned to 16 bytes.
template <class Real, int N> __device__ __forceinline__ void take(const Real *from, Real (&to)[N]) {
  constexpr int pack = 16 / sizeof(Real);
  struct alignas(16) Pack {
    Real x[pack];
  };
#pragma unroll
  for (int i = 0; i < N; i += pack) {
    const Pack p = *reinterpret_cast<const Pack *>(from + i);
#pragma unroll
    for (int e = 0; e < pack; ++e) to[i + e] = p.x[e];
  }
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)

/// The elements of a 16 x 8 block of results that one thread holds: (row, col), (row, col + 1), (row + 8, col),
/// (row + 8, col + 1) with row = lane / 4, col = lane % 4 * 2.
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
/// Splits x into two TF32 numbers. If x is NaN or infinite, the low part is NaN; the high part may be a number.
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

/// One thread's elements of A and B for a product over 8 terms: two terms of the rows lane / 4 and lane / 4 + 8 of A,
/// and of column lane / 4 of each block of 8 columns of B. The terms may be assigned to lanes in any way that is the
/// same for A and B.
template <class Real, int N> struct Group { Real a[2][2], b[N][2]; };

struct Exact {
  static constexpr int groups = 1;
  template <int N> __device__ static void add(const Group<float, N> (&g)[1], Results<float> (&sum)[N]) {
    std::uint32_t a_high[4], a_low[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Parts x = split(g[0].a[e % 2][e / 2]);
      a_high[e] = x.high, a_low[e] = x.low;
    }
    constexpr int together = N < 4 ? N : 4; // independent instructions, issued together
#pragma unroll
    for (int c0 = 0; c0 < N; c0 += together) {
      std::uint32_t high[together][2], low[together][2];
      Results<float> step[together];
#pragma unroll
      for (int c = 0; c < together; ++c)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const Parts x = split(g[0].b[c0 + c][e]);
          high[c][e] = x.high, low[c][e] = x.low;
        }
#pragma unroll
      for (int c = 0; c < together; ++c) mma_tf32(step[c], a_low, high[c]);
#pragma unroll
      for (int c = 0; c < together; ++c) mma_tf32(step[c], a_high, low[c]);
#pragma unroll
      for (int c = 0; c < together; ++c) mma_tf32(step[c], a_high, high[c]);
#pragma unroll
      for (int c = 0; c < together; ++c)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[c0 + c].x[e] += step[c].x[e];
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
template <Math math>
using UnitOf = std::conditional_t<math == Math::exact, Exact, std::conditional_t<math == Math::tf32, Tf32, Bf16>>;
struct Float64 {
  static constexpr int groups = 1;
  template <int N> __device__ static void add(const Group<double, N> (&g)[1], Results<double> (&sum)[N]) {
#pragma unroll
    for (int e = 0; e < 2; ++e)
#pragma unroll
      for (int c = 0; c < N; ++c) mma_f64(sum[c], g[0].a[0][e], g[0].a[1][e], g[0].b[c][e]);
  }
};

#else // code for older GPUs never uses these types, but needs their names to compile
struct Exact;
struct Float64;
#endif

} // namespace recollect::tile::cuda
#endif
