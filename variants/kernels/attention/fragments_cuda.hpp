// SPDX-License-Identifier: Apache-2.0
// What the forward and backward kernels of attention share (forward_cuda.hpp, backward_cuda.hpp): rows in device
// memory, a warp's rows of results, exponentials, and the scalar fallback's row operations.
#pragma once
#ifdef __CUDACC__
#include "harness/device/tile/fragments_cuda.hpp"
#include "variants/kernels/attention/causal_mask.hpp"
#include <cmath>

namespace recollect::variants::attention {

using fragments::Sum;

/// Rows of all heads in device memory: [heads, count, width]. Kernels read only rows that are aligned to 16 bytes.
template <class T> struct DeviceRows {
  T *data;
  int count, width;
  __host__ __device__ T *at(size_t head, int row) const { return data + (head * count + row) * width; }
};

/// Softmax statistics that the backward pass needs for each query, [heads, queries]: the log of the softmax
/// denominator, and do_t . o_t. Used only if weights are normalised.
struct Statistics {
  float *normaliser, *read;
};

__host__ __device__ constexpr int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }

/// All threads of a block copy rows of `width` numbers to a tile in shared memory. The copy is asynchronous: the caller
/// commits it, then waits. Rows past the end and columns past the width become 0.
template <class E, int rows, int width, int pitch, int threads>
__device__ __forceinline__ void copy_rows(const DeviceRows<const E> &from, size_t head, int first, E *to) {
  constexpr int pack = 16 / sizeof(E), across = width / pack, side = common_divisor(across, threads), // threads per row
      step = threads / side;
  constexpr bool even = rows % step == 0; // all threads copy the same number of rows
  const int row = int(threadIdx.x) / side, column = int(threadIdx.x) % side * pack, left = from.count - first;
  const E *const at = from.at(head, first) + row * from.width + column;
  E *const tile = to + row * pitch + column;
  if (left >= rows && from.width == width) {
#pragma unroll
    for (int r = 0; r < rows; r += step)
#pragma unroll
      for (int c = 0; c < width; c += side * pack)
        if (even || row + r < rows) fragments::copy_16(tile + r * pitch + c, at + r * width + c, true);
  } else {
#pragma unroll
    for (int r = 0; r < rows; r += step)
#pragma unroll
      for (int c = 0; c < width; c += side * pack) {
        const bool valid = row + r < left && column + c < from.width;
        if (even || row + r < rows)
          fragments::copy_16(tile + r * pitch + c, valid ? at + r * from.width + c : from.data, valid);
      }
  }
}

/// Whether logits are the products q . k times Kernel::factor.
template <class Kernel, class = void> constexpr bool is_proportional = false;
template <class Kernel> constexpr bool is_proportional<Kernel, std::enable_if_t<Kernel::proportional>> = true;

constexpr float log2_e = 1.44269504f, ln_2 = 0.693147181f;

/// 2^x, within 2 units in the last place; 0 instead of a subnormal result.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// The online softmax works on the products q . k if logits are proportional to them, else on the logits. This factor
/// turns either into an exponent of 2. It is never 0, because 0 times the -infinity of a masked pair is NaN.
template <class Kernel> __device__ __forceinline__ float exponent_scale(const Kernel &kernel) {
  if constexpr (is_proportional<Kernel>)
    return kernel.factor == 0 ? 1e-30f : kernel.factor * log2_e;
  else
    return log2_e;
}

template <int tiles, int N> __device__ __forceinline__ bool is_finite(const Sum (&sums)[tiles][N]) {
  float zero = 0;
#pragma unroll
  for (int i = 0; i < tiles; ++i)
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) zero = fmaf(sums[i][j].x[e], 0.0f, zero);
  return zero == 0;
}

/// Returns the block of queries, counted in its head, that a work unit of the launch computes, and sets `head` to this
/// head. Work units are ordered by groups of heads, so few that their keys fit in the cache together. In a group, the
/// first block of every head comes first, then the second block of every head, and so on.
__device__ __forceinline__ int block_of(size_t unit, int heads, int blocks, size_t &head) {
  constexpr int together = 1024; // work units of a group: a few for every multiprocessor
  const int most = max(1, together / blocks);
  const size_t before = unit / (size_t(most) * blocks) * most;
  const int own = int(unit - before * blocks), across = int(min(size_t(most), heads - before));
  head = before + own % across;
  return own / across;
}

/// sums = shrink * sums + weight * row, for row 8 r + lane / 4 of the tile `sums`. `row` has `width` numbers.
template <int N, class T>
__device__ __forceinline__ void add_row(Sum (&sums)[N], int r, float shrink, float weight, const T *row, int width) {
#pragma unroll
  for (int j = 0; j < N; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int c = 8 * j + threadIdx.x % 4 * 2 + e;
      float &x = sums[j].x[2 * r + e];
      x = shrink * x + (c < width ? weight * fragments::widened(row[c]) : 0.0f);
    }
}

/// Writes two adjacent columns of a row, except those past the width.
template <class T> __device__ __forceinline__ void put_two(T *to, int column, int width, float x, float y) {
  if (column + 1 < width && width % 2 == 0) {
    if constexpr (sizeof(T) == 2)
      *reinterpret_cast<std::uint32_t *>(to + column) = fragments::packed<T>(x, y);
    else
      *reinterpret_cast<float2 *>(to + column) = make_float2(x, y);
  } else {
    if (column < width) to[column] = fragments::rounded<T>(x);
    if (column + 1 < width) to[column + 1] = fragments::rounded<T>(y);
  }
}

/// The number of keys that query t sees: keys 0 ... keys_seen - 1. 0 past the last query.
__device__ __forceinline__ int keys_seen(CausalMask mask, int t, int queries, int keys) {
  if (t >= queries) return 0;
  return mask == CausalMask::everything ? keys : min(keys, mask == CausalMask::earlier ? t : t + 1);
}

} // namespace recollect::variants::attention
#endif
