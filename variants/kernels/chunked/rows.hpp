// SPDX-License-Identifier: Apache-2.0
// Moves a warp's results to and from rows in device memory, 16 bytes per lane for 16-bit elements; loads operands with
// scaled terms; launches the kernel of a stage.
#pragma once
#include "variants/kernels/chunked/problem.hpp"
#ifdef __CUDACC__
#include "harness/core/error.hpp"
#include <stdexcept>
#include <string>

namespace recollect::chunked {

using fragments::A16, fragments::B16, fragments::is_narrow, fragments::rounded, fragments::widened;

namespace detail {
/// In four 8-column blocks, lane l of a quad (four lanes) holds columns 2 l and 2 l + 1. Returns to lane l all four
/// pairs of block l.
__device__ __forceinline__ uint4 block_of_quad(const std::uint32_t (&pair)[4]) {
  const unsigned all = 0xffffffffu;
  const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
  const std::uint32_t a = __shfl_xor_sync(all, odd ? pair[0] : pair[1], 1),
                      b = __shfl_xor_sync(all, odd ? pair[2] : pair[3], 1);
  const std::uint32_t x[4] = {odd ? a : pair[0], odd ? pair[1] : a, odd ? b : pair[2], odd ? pair[3] : b};
  const std::uint32_t c = __shfl_xor_sync(all, upper ? x[0] : x[2], 2),
                      d = __shfl_xor_sync(all, upper ? x[1] : x[3], 2);
  return upper ? make_uint4(c, d, x[2], x[3]) : make_uint4(x[0], x[1], c, d);
}
} // namespace detail

/// Writes a warp's 16 x (8 N) results to rows `ld` apart, and skips results outside `rows` and `columns`. Rows start at
/// multiples of 16 bytes, and `columns` is a whole number of 16-byte packs. All lanes of the warp must call it.
template <class T, int N>
__device__ __forceinline__ void store_rows(const Sum (&x)[N], T *to, std::ptrdiff_t ld, int rows, int columns) {
  static_assert(N % 4 == 0, "whole quads of blocks");
  const int row = threadIdx.x % 32 / 4, quad = threadIdx.x % 4;
#pragma unroll
  for (int n = 0; n < N; n += 4) {
    if (8 * n >= columns) break;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = row + 8 * r;
      if constexpr (sizeof(T) == 2) {
        std::uint32_t pair[4];
#pragma unroll
        for (int c = 0; c < 4; ++c) pair[c] = fragments::packed<T>(x[n + c].x[2 * r], x[n + c].x[2 * r + 1]);
        const uint4 block = detail::block_of_quad(pair);
        const int column = 8 * (n + quad);
        if (t < rows && column < columns) *reinterpret_cast<uint4 *>(to + t * ld + column) = block;
      } else {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int column = 8 * (n + c) + 2 * quad;
          if (t < rows && column < columns)
            *reinterpret_cast<float2 *>(to + t * ld + column) = make_float2(x[n + c].x[2 * r], x[n + c].x[2 * r + 1]);
        }
      }
    }
  }
}

__device__ __forceinline__ float2 load_pair(const float *at) { return *reinterpret_cast<const float2 *>(at); }
__device__ __forceinline__ float2 load_pair(const __nv_bfloat16 *at) {
  return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162 *>(at));
}
__device__ __forceinline__ float2 load_pair(const __half *at) {
  return __half22float2(*reinterpret_cast<const __half2 *>(at));
}

/// Multiplies results by a number.
template <int N> __device__ __forceinline__ void scale(Sum (&x)[N], float by) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) x[n].x[e] *= by;
}
/// Multiplies each of the lane's two rows r by factor[r].
template <int N> __device__ __forceinline__ void scale_rows(Sum (&x)[N], const float (&factor)[2]) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) x[n].x[e] *= factor[e / 2];
}
/// Multiplies column j of results by factor[j].
template <int N> __device__ __forceinline__ void scale_columns(Sum (&x)[N], const float *factor) {
#pragma unroll
  for (int n = 0; n < N; ++n) {
    const float2 own = load_pair(factor + 8 * n + threadIdx.x % 4 * 2);
#pragma unroll
    for (int r = 0; r < 2; ++r) x[n].x[2 * r] *= own.x, x[n].x[2 * r + 1] *= own.y;
  }
}

/// Loads four adjacent numbers from a multiple of 16 bytes (float32) or of 8 bytes (16-bit numbers).
__device__ __forceinline__ void load_four(const float *at, float (&to)[4]) {
  const float4 four = *reinterpret_cast<const float4 *>(at);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
template <class T> __device__ __forceinline__ void load_four(const T *at, float (&to)[4]) {
  const uint2 bits = *reinterpret_cast<const uint2 *>(at);
  const float2 a = load_pair(reinterpret_cast<const T *>(&bits.x)), b = load_pair(reinterpret_cast<const T *>(&bits.y));
  to[0] = a.x, to[1] = a.y, to[2] = b.x, to[3] = b.y;
}

/// Like load_a_across, but multiplies term i (the index that the product sums over) by factor[i].
template <class Op, int pitch>
__device__ __forceinline__ A16<Op> load_a_across_scaled(const Element<Op> *tile, int row, int term,
                                                        const float *factor) {
  const int lane = threadIdx.x % 32;
  float2 f[2];
#pragma unroll
  for (int g = 0; g < 2; ++g) f[g] = load_pair(factor + term + 8 * g + lane % 4 * 2);
  if constexpr (is_narrow<Op>) {
    A16<Op> a = fragments::load_a_across<Op, pitch>(tile, row, term);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 x = load_pair(reinterpret_cast<const Element<Op> *>(&a.x[i]));
      a.x[i] = fragments::packed<Element<Op>>(x.x * f[i / 2].x, x.y * f[i / 2].y);
    }
    return a;
  } else {
    float x[2][2][2];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          x[g][r][e] = (e ? f[g].y : f[g].x) * tile[(term + 8 * g + lane % 4 * 2 + e) * pitch + row + lane / 4 + 8 * r];
    return fragments::detail::operand_a<Op>(x);
  }
}

/// Waits for the oldest of `under_way` groups of copies; under_way is at most 4.
__device__ __forceinline__ void wait_for_oldest(int under_way) {
  if (under_way <= 1)
    fragments::wait_for_copies<0>();
  else if (under_way == 2)
    fragments::wait_for_copies<1>();
  else if (under_way == 3)
    fragments::wait_for_copies<2>();
  else
    fragments::wait_for_copies<3>();
}
/// Copies 4 bytes to shared memory asynchronously, or writes zeros if not valid.
__device__ __forceinline__ void copy_4(float *to, const float *from, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(std::uint32_t(__cvta_generic_to_shared(to))),
               "l"(from), "r"(valid ? 4 : 0)
               : "memory");
}

/// Whether all rows of `width` elements from `at` on start and end at multiples of 16 bytes.
template <class T> __host__ __device__ bool rows_aligned(const T *at, int width) {
  return reinterpret_cast<std::size_t>(at) % 16 == 0 && width * sizeof(T) % 16 == 0;
}

inline void check(cudaError_t status, const char *what) {
  if (status != cudaSuccess)
    input_error(std::string(what) + " could not run on the GPU: " + cudaGetErrorString(status));
}
inline int multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return count;
}
template <class... Parameters, class... Arguments>
void launch(const char *what, void (*kernel)(Parameters...), std::size_t blocks, int threads, std::size_t bytes,
            cudaStream_t stream, const Arguments &...arguments) {
  if (blocks == 0) return;
  if (bytes > 40 * 1024) // the kernel also has static shared memory
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)), what);
  kernel<<<unsigned(blocks), threads, bytes, stream>>>(arguments...);
  check(cudaGetLastError(), what);
}

/// Runs body(shared memory) in each thread block.
template <class Body> __global__ void __launch_bounds__(Body::threads) run_body(const __grid_constant__ Body body) {
  extern __shared__ __align__(128) unsigned char shared[];
  body(shared);
}
template <class Body>
void launch(const char *what, std::size_t blocks, std::size_t bytes, cudaStream_t stream, const Body &body) {
  launch(what, run_body<Body>, blocks, Body::threads, bytes, stream, body);
}

/// Calls with(Op()), where Op is the precision that `math` asks for in products of float32 arrays.
template <class With> void with_products(Math math, const With &with) {
  switch (math) {
  case Math::exact:
    return with(fragments::Exact());
  case Math::tf32:
    return with(fragments::Tf32());
  case Math::bf16:
    return with(fragments::Bf16());
  }
}

/// Calls with(extent) for the smallest static extent that holds `width`; width is at most 256.
template <class With> void with_extent(int width, const With &with) {
  if (width <= 32) return with(std::integral_constant<int, 32>());
  if (width <= 64) return with(std::integral_constant<int, 64>());
  if (width <= 96) return with(std::integral_constant<int, 96>());
  if (width <= 128) return with(std::integral_constant<int, 128>());
  if (width <= 192) return with(std::integral_constant<int, 192>());
  if (width <= 256) return with(std::integral_constant<int, 256>());
  throw std::logic_error("no static extent for heads of " + std::to_string(width));
}

} // namespace recollect::chunked
#endif
