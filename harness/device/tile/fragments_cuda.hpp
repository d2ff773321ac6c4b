// SPDX-License-Identifier: Apache-2.0
// Matrix fragments of a warp, for kernels with static extents. Operands of 16 x 16 numbers are loaded from shared
// memory or made from results of products, and multiplied on the tensor cores.
//
// A type selects the precision of products: Bf16 and F16 take 16-bit operands, Tf32 rounds float32 operands to 10 bits,
// Exact splits float32 operands as mma_cuda.hpp says. Sums are always float32. A tile is a matrix in shared memory
// whose rows start `pitch` elements apart. With pitch = columns + pad<Op>, the rows that a warp reads together lie in
// different banks.
#pragma once
#ifdef __CUDACC__
#include "harness/device/tile/mma_cuda.hpp"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace recollect::fragments {

using Sum = tile::cuda::Results<float>; // 16 x 8 results; x[2 r + e] is (lane / 4 + 8 r, lane % 4 * 2 + e)

struct Bf16 {
  using Element = __nv_bfloat16;
};
struct F16 {
  using Element = __half;
};
struct Tf32 {
  using Element = float;
};
struct Exact {
  using Element = float;
};
template <class Op> using Element = typename Op::Element;
template <class Op> constexpr bool is_narrow = sizeof(Element<Op>) == 2;
template <class Op> constexpr int pad = 8; // number of elements: 16 bytes of a 16-bit type, 32 bytes of float32

__device__ __forceinline__ float widened(float x) { return x; }
__device__ __forceinline__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float widened(__half x) { return __half2float(x); }
template <class To> __device__ __forceinline__ To rounded(float x);
template <> __device__ __forceinline__ float rounded<float>(float x) { return x; }
template <> __device__ __forceinline__ __nv_bfloat16 rounded<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }
template <> __device__ __forceinline__ __half rounded<__half>(float x) { return __float2half_rn(x); }

/// Two adjacent numbers in one register, the first in its low half.
template <class T> __device__ __forceinline__ std::uint32_t packed(float first, float second);
template <> __device__ __forceinline__ std::uint32_t packed<__nv_bfloat16>(float first, float second) {
  return tile::cuda::to_bf16_pair(first, second);
}
template <> __device__ __forceinline__ std::uint32_t packed<__half>(float first, float second) {
  std::uint32_t bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}

template <class T> __device__ __forceinline__ float2 unpacked(std::uint32_t two);
template <> __device__ __forceinline__ float2 unpacked<__nv_bfloat16>(std::uint32_t two) {
  return make_float2(__uint_as_float(two << 16), __uint_as_float(two & 0xffff0000u));
}
template <> __device__ __forceinline__ float2 unpacked<__half>(std::uint32_t two) {
  return __half22float2(*reinterpret_cast<const __half2 *>(&two));
}

/// The first operand of a product: 16 rows x 16 terms of the sum. 16-bit types have the layout of the mma instruction.
/// In float32, x[g][r][e] of a lane is row lane / 4 + 8 r, term 8 g + lane % 4 * 2 + e.
template <class Op, bool narrow = is_narrow<Op>> struct A16 { std::uint32_t x[4]; };
template <class Op> struct A16<Op, false> { float x[2][2][2]; };
template <> struct A16<Exact, false> { std::uint32_t high[2][4], low[2][4]; }; // split once, used for many columns
/// The second operand of a product: 16 terms of the sum x 16 columns. In 16-bit types, x[c][g] holds the terms 8 g ...
/// 8 g + 7 of the columns 8 c ... 8 c + 7, in the layout of the mma instruction. In float32, x[c][g][e] of a lane is
/// term 8 g + lane % 4 * 2 + e, column 8 c + lane / 4.
template <class Op, bool narrow = is_narrow<Op>> struct B16 { std::uint32_t x[2][2]; };
template <class Op> struct B16<Op, false> { float x[2][2][2]; };

namespace detail {
__device__ __forceinline__ int lane() { return threadIdx.x & 31; }
template <bool across> __device__ __forceinline__ void matrices(const void *at, std::uint32_t (&x)[4]) {
  const std::uint32_t address = std::uint32_t(__cvta_generic_to_shared(at));
  if constexpr (across)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
}
template <class Op> __device__ __forceinline__ A16<Op> operand_a(const float (&x)[2][2][2]) {
  A16<Op> a;
  if constexpr (std::is_same<Op, Exact>::value) {
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int e = 0; e < 4; ++e) { // in the order of the mma instruction: both rows of a term, then the next term
        const tile::cuda::Parts parts = tile::cuda::split(x[g][e % 2][e / 2]);
        a.high[g][e] = parts.high, a.low[g][e] = parts.low;
      }
  } else {
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int e = 0; e < 2; ++e) a.x[g][r][e] = x[g][r][e];
  }
  return a;
}
} // namespace detail

/// Loads the rows row ... row + 15 and the terms term ... term + 15 of a tile whose rows are rows of the operand.
template <class Op, int pitch> __device__ __forceinline__ A16<Op> load_a(const Element<Op> *tile, int row, int term) {
  const int lane = detail::lane();
  if constexpr (is_narrow<Op>) {
    A16<Op> a;
    detail::matrices<false>(tile + (row + lane % 16) * pitch + term + lane / 16 * 8, a.x);
    return a;
  } else {
    float x[2][2][2];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float2 two =
            *reinterpret_cast<const float2 *>(tile + (row + lane / 4 + 8 * r) * pitch + term + 8 * g + lane % 4 * 2);
        x[g][r][0] = two.x, x[g][r][1] = two.y;
      }
    return detail::operand_a<Op>(x);
  }
}
/// Like load_a(), for a tile whose rows are terms.
template <class Op, int pitch>
__device__ __forceinline__ A16<Op> load_a_across(const Element<Op> *tile, int row, int term) {
  const int lane = detail::lane();
  if constexpr (is_narrow<Op>) {
    A16<Op> a;
    detail::matrices<true>(tile + (term + lane % 8 + lane / 16 * 8) * pitch + row + lane / 8 % 2 * 8, a.x);
    return a;
  } else {
    float x[2][2][2];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          x[g][r][e] = tile[(term + 8 * g + lane % 4 * 2 + e) * pitch + row + lane / 4 + 8 * r];
    return detail::operand_a<Op>(x);
  }
}
/// Loads the terms term ... term + 15 and the columns column ... column + 15 of a tile whose rows are terms.
template <class Op, int pitch>
__device__ __forceinline__ B16<Op> load_b(const Element<Op> *tile, int term, int column) {
  const int lane = detail::lane();
  B16<Op> b;
  if constexpr (is_narrow<Op>) {
    std::uint32_t x[4];
    detail::matrices<true>(tile + (term + lane % 16) * pitch + column + lane / 16 * 8, x);
    b.x[0][0] = x[0], b.x[0][1] = x[1], b.x[1][0] = x[2], b.x[1][1] = x[3];
  } else {
#pragma unroll
    for (int c = 0; c < 2; ++c)
#pragma unroll
      for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          b.x[c][g][e] = tile[(term + 8 * g + lane % 4 * 2 + e) * pitch + column + 8 * c + lane / 4];
  }
  return b;
}
/// Like load_b(), for a tile whose rows are columns of the operand.
template <class Op, int pitch>
__device__ __forceinline__ B16<Op> load_b_across(const Element<Op> *tile, int term, int column) {
  const int lane = detail::lane();
  B16<Op> b;
  if constexpr (is_narrow<Op>) {
    std::uint32_t x[4];
    detail::matrices<false>(tile + (column + lane % 8 + lane / 16 * 8) * pitch + term + lane / 8 % 2 * 8, x);
    b.x[0][0] = x[0], b.x[0][1] = x[1], b.x[1][0] = x[2], b.x[1][1] = x[3];
  } else {
#pragma unroll
    for (int c = 0; c < 2; ++c)
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const float2 two =
            *reinterpret_cast<const float2 *>(tile + (column + 8 * c + lane / 4) * pitch + term + 8 * g + lane % 4 * 2);
        b.x[c][g][0] = two.x, b.x[c][g][1] = two.y;
      }
  }
  return b;
}

/// Converts 16 x 16 results of a product to the first operand of another one; their columns become terms.
template <class Op> __device__ __forceinline__ A16<Op> as_a(const Sum &first, const Sum &second) {
  if constexpr (is_narrow<Op>) {
    using E = Element<Op>;
    return {{packed<E>(first.x[0], first.x[1]), packed<E>(first.x[2], first.x[3]), packed<E>(second.x[0], second.x[1]),
             packed<E>(second.x[2], second.x[3])}};
  } else {
    float x[2][2][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) x[0][i / 2][i % 2] = first.x[i], x[1][i / 2][i % 2] = second.x[i];
    return detail::operand_a<Op>(x);
  }
}
/// as_a() for results of 16 rows and 8 N columns.
template <class Op, int N>
__device__ __forceinline__ void as_operands(const Sum (&results)[N], A16<Op> (&operands)[N / 2]) {
#pragma unroll
  for (int c = 0; c < N / 2; ++c) operands[c] = as_a<Op>(results[2 * c], results[2 * c + 1]);
}
/// Converts 16 x 16 results of a product to the second operand of another one; their rows become columns, and their
/// columns become terms.
template <class Op> __device__ __forceinline__ B16<Op> as_b_across(const Sum &first, const Sum &second) {
  B16<Op> b;
#pragma unroll
  for (int r = 0; r < 2; ++r)
    if constexpr (is_narrow<Op>) {
      b.x[r][0] = packed<Element<Op>>(first.x[2 * r], first.x[2 * r + 1]);
      b.x[r][1] = packed<Element<Op>>(second.x[2 * r], second.x[2 * r + 1]);
    } else {
#pragma unroll
      for (int e = 0; e < 2; ++e) b.x[r][0][e] = first.x[2 * r + e], b.x[r][1][e] = second.x[2 * r + e];
    }
  return b;
}

/// Adds a b: the columns 0 ... 7 of the product to `first`, the columns 8 ... 15 to `second`.
template <class Op>
__device__ __forceinline__ void multiply_add(const A16<Op> &a, const B16<Op> &b, Sum &first, Sum &second) {
  Sum *const sums[2] = {&first, &second};
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    Sum &sum = *sums[c];
    if constexpr (std::is_same<Op, Bf16>::value) {
      tile::cuda::mma_bf16(sum, a.x, b.x[c]);
    } else if constexpr (std::is_same<Op, F16>::value) {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(sum.x[0]), "+f"(sum.x[1]), "+f"(sum.x[2]), "+f"(sum.x[3])
          : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[c][0]), "r"(b.x[c][1]));
    } else if constexpr (std::is_same<Op, Tf32>::value) {
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const std::uint32_t left[4] = {tile::cuda::to_tf32(a.x[g][0][0]), tile::cuda::to_tf32(a.x[g][1][0]),
                                       tile::cuda::to_tf32(a.x[g][0][1]), tile::cuda::to_tf32(a.x[g][1][1])};
        const std::uint32_t right[2] = {tile::cuda::to_tf32(b.x[c][g][0]), tile::cuda::to_tf32(b.x[c][g][1])};
        tile::cuda::mma_tf32(sum, left, right);
      }
    } else {
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const tile::cuda::Parts p0 = tile::cuda::split(b.x[c][g][0]), p1 = tile::cuda::split(b.x[c][g][1]);
        const std::uint32_t high[2] = {p0.high, p1.high}, low[2] = {p0.low, p1.low};
        Sum step;
        tile::cuda::mma_tf32(step, a.low[g], high);
        tile::cuda::mma_tf32(step, a.high[g], low);
        tile::cuda::mma_tf32(step, a.high[g], high);
#pragma unroll
        for (int e = 0; e < 4; ++e) sum.x[e] += step.x[e];
      }
    }
  }
}

/// sums[i] += A_i B for every i < tiles. The sum has 16 * steps terms. A_i has 16 rows; load(i, s) returns its terms
/// 16 s ... 16 s + 15. B is `tile`. The rows of the tile are terms or, if `across`, columns of B.
template <class Op, int pitch, int steps, bool across, int tiles, int blocks, class Load>
__device__ __forceinline__ void multiply_add(const Load &load, const Element<Op> *tile, Sum (&sums)[tiles][blocks]) {
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    A16<Op> a[tiles];
#pragma unroll
    for (int i = 0; i < tiles; ++i) a[i] = load(i, s);
#pragma unroll
    for (int c = 0; c < blocks / 2; ++c) {
      B16<Op> b;
      if constexpr (across)
        b = load_b_across<Op, pitch>(tile, 16 * s, 16 * c);
      else
        b = load_b<Op, pitch>(tile, 16 * s, 16 * c);
#pragma unroll
      for (int i = 0; i < tiles; ++i) multiply_add<Op>(a[i], b, sums[i][2 * c], sums[i][2 * c + 1]);
    }
  }
}

/// The sum of x over the lanes of the warp.
__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int side = 16; side > 0; side /= 2) x += __shfl_xor_sync(0xffffffffu, x, side);
  return x;
}
/// Dot product of `width` elements, by one warp.
template <class X, class Y> __device__ __forceinline__ float warp_dot(const X *x, const Y *y, int width) {
  float sum = 0;
  for (int j = detail::lane(); j < width; j += 32) sum += widened(x[j]) * widened(y[j]);
  return warp_sum(sum);
}

/// Stores a block of 16 x 8 results in a tile in shared memory.
template <class T, int pitch> __device__ __forceinline__ void store(const Sum &sum, T *tile, int row, int column) {
  const int lane = detail::lane();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    T *const at = tile + (row + lane / 4 + 8 * r) * pitch + column + lane % 4 * 2;
    if constexpr (sizeof(T) == 2)
      *reinterpret_cast<std::uint32_t *>(at) = packed<T>(sum.x[2 * r], sum.x[2 * r + 1]);
    else
      *reinterpret_cast<float2 *>(at) = make_float2(sum.x[2 * r], sum.x[2 * r + 1]);
  }
}

/// Copies 16 bytes to shared memory; writes zeros if not `valid`. The copy is asynchronous: it needs commit_copies()
/// and wait_for_copies().
__device__ __forceinline__ void copy_16(void *to, const void *from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(std::uint32_t(__cvta_generic_to_shared(to))),
               "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most `left` of the committed groups of copies have not ended.
template <int left = 0> __device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

/// Copies a tile of rows x columns to shared memory, with zeros beyond valid_rows and valid_columns. In global memory,
/// rows start `ld` apart, and start and end at multiples of 16 bytes. Copies are asynchronous: they need
/// commit_copies() and wait_for_copies(). But if Stored is not the type of the tile, the elements are converted and
/// stored at once.
template <class Op, int rows, int columns, int pitch, int threads, class Stored>
__device__ __forceinline__ void load_tile(const Stored *from, std::ptrdiff_t ld, int valid_rows, int valid_columns,
                                          Element<Op> *to, int thread) {
  constexpr int pack = 16 / sizeof(Stored), across = columns / pack;
  static_assert(columns % pack == 0, "whole packs");
#pragma unroll
  for (int i = thread; i < rows * across; i += threads) {
    const int row = i / across, column = i % across * pack;
    const bool valid = row < valid_rows && column < valid_columns;
    const Stored *const at = from + (valid ? row * ld + column : 0);
    if constexpr (std::is_same<Stored, Element<Op>>::value) {
      copy_16(to + row * pitch + column, at, valid);
    } else {
      uint4 bits = make_uint4(0, 0, 0, 0);
      if (valid) bits = *reinterpret_cast<const uint4 *>(at);
      const Stored *const x = reinterpret_cast<const Stored *>(&bits);
#pragma unroll
      for (int e = 0; e < pack; ++e) to[row * pitch + column + e] = rounded<Element<Op>>(widened(x[e]));
    }
  }
}

} // namespace recollect::fragments
#endif
