// SPDX-License-Identifier: Apache-2.0
// Attention on tensor cores, for any number of queries and keys, rows at most as wide as the extents Dk and Dv (padded
// with zeros):
//
//   z(t,i) = q_t . k_i,   p(t,i) = kernel(head, t, i, z), 0 where query t does not see key i
//   sum_t = sum_i p(t,i) v_i; a normalised kernel returns a logit, and p is its softmax (online_softmax.hpp)
//
// A warp loops with 16 `tiles` queries over the keys, `keys` at a time, while the next keys are copied to shared
// memory. Scores, weights and sums stay in its registers, because results of q k^T have the layout of the first
// operand of p v. The softmax is online (Milakov and Gimelshein 2018), in powers of 2. Only blocks that the diagonal
// crosses are masked.
//
// A masked weight is 0, but 0 times Inf or NaN is NaN. A warp whose sums are not finite recomputes its rows one by
// one.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention/fragments_cuda.hpp"

namespace recollect::variants::attention {

/// Warps per block, tiles of 16 queries per warp, keys loaded at a time, and blocks per multiprocessor.
struct Tuning {
  int warps, tiles, keys, blocks;
};
template <class Op, int Dk, int Dv> constexpr Tuning forward_tuning() {
  constexpr int D = Dk > Dv ? Dk : Dv;
  if (fragments::is_narrow<Op>) return D <= 128 ? Tuning{4, 2, 64, 2} : Tuning{8, 1, 64, 1};
  return D <= 64 ? Tuning{4, 2, 32, 2} : D <= 128 ? Tuning{4, 2, 16, 2} : Tuning{8, 1, 16, 1};
}

/// `group` heads of queries share a head of keys and values. Finish uses the sums (WriteOutput, LeaveStatistics).
template <class Op, int Dk, int Dv, class Kernel, class Finish> struct Forward {
  using Element = fragments::Element<Op>;
  static constexpr Tuning tuning = forward_tuning<Op, Dk, Dv>();
  static constexpr int threads = 32 * tuning.warps, blocks_at_once = tuning.blocks;
  static constexpr int tiles = tuning.tiles, keys = tuning.keys, warp_rows = 16 * tiles,
                       rows = tuning.warps * warp_rows;
  static constexpr int pitch_k = Dk + fragments::pad<Op>, pitch_v = Dv + fragments::pad<Op>;
  static constexpr size_t shared_bytes = sizeof(Element) * (rows * pitch_k + 2 * keys * (pitch_k + pitch_v));
  static constexpr bool keeps_queries = fragments::is_narrow<Op> && tiles * Dk <= 128; // in registers

  DeviceRows<const Element> q, k, v;
  int heads, group;
  CausalMask mask;
  Kernel kernel;
  Finish finish;

  __host__ __device__ int blocks() const { return (q.count - 1) / rows + 1; }
  __host__ __device__ size_t units() const { return size_t(heads) * blocks(); }

  __device__ void operator()(size_t unit, void *shared) const {
    Element *const q_tile = static_cast<Element *>(shared), *const k_tiles = q_tile + rows * pitch_k,
                   *const v_tiles = k_tiles + 2 * keys * pitch_k;
    size_t head;
    const int first_of_block =
        (blocks() - 1 - block_of(unit, heads, blocks(), head)) * rows; // blocks with the most keys first
    const int thread = threadIdx.x, lane = thread % 32, warp_first = thread / 32 * warp_rows,
              first = first_of_block + warp_first;
    const int end = seen(min(first_of_block + rows, q.count) - 1), // of the block's queries
        warp_end = first < q.count ? seen(min(first + warp_rows, q.count) - 1) : 0;
    copy_rows<Element, rows, Dk, pitch_k, threads>(q, head, first_of_block, q_tile);
    load_keys(head / group, 0, k_tiles, v_tiles);

    Sums sums;
    fragments::A16<Op> queries[keeps_queries ? tiles : 1][keeps_queries ? Dk / 16 : 1];
    for (int key = 0, here = 0; key < end; key += keys, here = 1 - here) {
      fragments::wait_for_copies();
      __syncthreads(); // the block has arrived, and all warps have read the last one
      if (key == 0) {
        if (is_negative()) negate(q_tile, warp_first);
        if (keeps_queries) load_queries(q_tile, warp_first, queries);
      }
      if (key + keys < end)
        load_keys(head / group, key + keys, k_tiles + (1 - here) * keys * pitch_k,
                  v_tiles + (1 - here) * keys * pitch_v);
      if (key >= warp_end) continue;
      Sum p[tiles][keys / 8];
      score(q_tile, warp_first, queries, k_tiles + here * keys * pitch_k, p);
      if (key + keys <= seen(first) && first + warp_rows <= q.count)
        find_peaks<false>(head, first + lane / 4, key + lane % 4 * 2, p, sums);
      else
        find_peaks<true>(head, first + lane / 4, key + lane % 4 * 2, p, sums);
      add_values(p, v_tiles + here * keys * pitch_v, sums);
    }
    fragments::wait_for_copies();
    if (!__all_sync(0xffffffffu, is_finite(sums.of))) one_by_one(head, first, sums);
    finish_rows(head, first + lane / 4, sums);
  }

private:
  struct Sums {
    Sum of[tiles][Dv / 8];
    float peak[tiles][2],
        mass[tiles][2]; // peak: running maximum of base-2 logits; mass: running sum over the lane's own columns
    __device__ Sums() {
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int r = 0; r < 2; ++r) peak[i][r] = -INFINITY, mass[i][r] = 0;
    }
  };

  __device__ __forceinline__ int seen(int t) const { return keys_seen(mask, t, q.count, k.count); }

  __device__ __forceinline__ void load_keys(size_t head, int key, Element *k_tile, Element *v_tile) const {
    copy_rows<Element, keys, Dk, pitch_k, threads>(k, head, key, k_tile);
    copy_rows<Element, keys, Dv, pitch_v, threads>(v, head, key, v_tile);
    fragments::commit_copies();
  }

  template <int N, int steps>
  __device__ __forceinline__ static void load_queries(const Element *q_tile, int row,
                                                      fragments::A16<Op> (&a)[N][steps]) {
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
      for (int s = 0; s < steps; ++s) a[i][s] = fragments::load_a<Op, pitch_k>(q_tile, row + 16 * i, 16 * s);
  }

  template <int N, int steps>
  __device__ __forceinline__ static void score(const Element *q_tile, int row,
                                               const fragments::A16<Op> (&queries)[N][steps], const Element *k_tile,
                                               Sum (&p)[tiles][keys / 8]) {
#pragma unroll
    for (int s = 0; s < Dk / 16; ++s) {
      fragments::A16<Op> a[tiles];
#pragma unroll
      for (int i = 0; i < tiles; ++i)
        if constexpr (keeps_queries)
          a[i] = queries[i][s];
        else
          a[i] = fragments::load_a<Op, pitch_k>(q_tile, row + 16 * i, 16 * s);
#pragma unroll
      for (int c = 0; c < keys / 16; ++c) {
        const fragments::B16<Op> b = fragments::load_b_across<Op, pitch_k>(k_tile, 16 * s, 16 * c);
#pragma unroll
        for (int i = 0; i < tiles; ++i) fragments::multiply_add(a[i], b, p[i][2 * c], p[i][2 * c + 1]);
      }
    }
  }

  /// Logits (or weights, where they are not normalised) of queries t, t + 8 ... and keys key, key + 1, key + 8 ...;
  /// updates the running maxima. A maximum grows only when a logit exceeds it by `slack`: weights stay at most 2^slack,
  /// and sums are rarely rescaled.
  template <bool masked>
  __device__ __forceinline__ void find_peaks(size_t head, int t, int key, Sum (&p)[tiles][keys / 8], Sums &sums) const {
    constexpr float slack = 6;
    const bool normalised = kernel.normalised();
    const float scale = fabsf(exponent_scale(kernel));
    float highest[tiles][2];
    bool same = true;
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int query = t + 16 * i + 8 * r, end = seen(query);
        highest[i][r] = -INFINITY;
#pragma unroll
        for (int c = 0; c < keys / 8; ++c)
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float &x = p[i][c].x[2 * r + e];
            const int at = key + 8 * c + e;
            if (!(is_proportional<Kernel> && normalised) && (!masked || at < end)) x = kernel(head, query, at, x);
            if (masked && at >= end) x = normalised ? -INFINITY : 0.0f;
            highest[i][r] = fmaxf(highest[i][r], x);
          }
        if (!normalised) continue;
        highest[i][r] = fmaxf(highest[i][r], __shfl_xor_sync(0xffffffffu, highest[i][r], 1));
        highest[i][r] = scale * fmaxf(highest[i][r], __shfl_xor_sync(0xffffffffu, highest[i][r], 2));
        same = same && !(highest[i][r] > sums.peak[i][r] + slack);
      }
    if (!normalised || __all_sync(0xffffffffu, same)) return;
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float now = fmaxf(sums.peak[i][r], highest[i][r]),
                    shrink = exp2_of(sums.peak[i][r] - (now == -INFINITY ? 0.0f : now));
        sums.peak[i][r] = now, sums.mass[i][r] *= shrink;
#pragma unroll
        for (int j = 0; j < Dv / 8; ++j) sums.of[i][j].x[2 * r] *= shrink, sums.of[i][j].x[2 * r + 1] *= shrink;
      }
  }

  /// Turns logits into weights, and sums += weights times values. Exponentials of some keys overlap with products of
  /// others.
  __device__ __forceinline__ void add_values(Sum (&p)[tiles][keys / 8], const Element *v_tile, Sums &sums) const {
    const float scale = fabsf(exponent_scale(kernel));
    float base[tiles][2];
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) base[i][r] = sums.peak[i][r] == -INFINITY ? 0.0f : -sums.peak[i][r];
#pragma unroll
    for (int s = 0; s < keys / 16; ++s) {
      fragments::A16<Op> a[tiles];
#pragma unroll
      for (int i = 0; i < tiles; ++i) {
        if (kernel.normalised())
#pragma unroll
          for (int c = 2 * s; c < 2 * s + 2; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              float &x = p[i][c].x[e];
              x = exp2_of(fmaf(x, scale, base[i][e / 2]));
              sums.mass[i][e / 2] += x;
            }
        a[i] = fragments::as_a<Op>(p[i][2 * s], p[i][2 * s + 1]);
      }
#pragma unroll
      for (int c = 0; c < Dv / 16; ++c) {
        const fragments::B16<Op> b = fragments::load_b<Op, pitch_v>(v_tile, 16 * s, 16 * c);
#pragma unroll
        for (int i = 0; i < tiles; ++i) fragments::multiply_add(a[i], b, sums.of[i][2 * c], sums.of[i][2 * c + 1]);
      }
    }
  }
  __device__ __forceinline__ bool is_negative() const {
    if constexpr (is_proportional<Kernel>) return kernel.normalised() && kernel.factor < 0;
    return false;
  }
  /// Negates the warp's queries, so that the largest product belongs to the largest logit.
  __device__ static void negate(Element *q_tile, int first) {
    for (int i = threadIdx.x % 32; i < warp_rows * Dk; i += 32) {
      Element &x = q_tile[(first + i / Dk) * pitch_k + i % Dk];
      x = fragments::rounded<Element>(-fragments::widened(x));
    }
    __syncwarp();
  }

  /// Scalar fallback: the warp's sums, query by query and key by key.
  __device__ __forceinline__ void one_by_one(size_t head, int first, Sums &sums) const {
    const int lane = threadIdx.x % 32;
    const float sign = is_negative() ? -1.0f : 1.0f, scale = fabsf(exponent_scale(kernel));
    const bool normalised = kernel.normalised();
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int j = 0; j < Dv / 8; ++j) sums.of[i][j].x[2 * r] = sums.of[i][j].x[2 * r + 1] = 0;
        sums.peak[i][r] = -INFINITY, sums.mass[i][r] = 0;
#pragma unroll 1
        for (int row = 0; row < 8; ++row) {
          const int t = first + 16 * i + 8 * r + row, end = t < q.count ? seen(t) : 0;
          float peak = -INFINITY, mass = 0;
#pragma unroll 1
          for (int key = 0; key < end; ++key) {
            float x = row_product(q.at(head, t), k.at(head / group, key), q.width), shrink = 1;
            if (!(is_proportional<Kernel> && normalised)) x = kernel(head, t, key, x);
            if (normalised) {
              const float now = fmaxf(peak, sign * x * scale), base = now == -INFINITY ? 0.0f : now;
              x = exp2_of(fmaf(sign * x, scale, -base)), shrink = exp2_of(peak - base);
              peak = now, mass = mass * shrink + x;
            }
            if (lane / 4 == row) add_row(sums.of[i], r, shrink, x, v.at(head / group, key), v.width);
          }
          if (lane / 4 == row) sums.peak[i][r] = peak, sums.mass[i][r] = lane % 4 ? 0.0f : mass;
        }
      }
  }

  __device__ __forceinline__ void finish_rows(size_t head, int t, Sums &sums) const {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int query = t + 16 * i + 8 * r;
        float logarithm = 0;
        if (kernel.normalised()) {
          const float mass = tile::cuda::across_four(sums.mass[i][r]), over = mass == 0 ? 0.0f : 1 / mass;
          if (mass != 0) logarithm = (sums.peak[i][r] + log2f(mass)) * ln_2;
#pragma unroll
          for (int j = 0; j < Dv / 8; ++j)
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              float &x = sums.of[i][j].x[2 * r + e];
              x = mass == 0 ? 0.0f : x * over;
            }
        }
        finish.row(head, query, query < q.count, r, sums.of[i], logarithm);
      }
  }
};

/// Writes the outputs [heads, queries, Dv] and, if asked for, the logs of the softmax denominators.
template <class T> struct WriteOutput {
  DeviceRows<T> o;
  float *normaliser = nullptr; // [heads, queries]
  template <int N>
  __device__ __forceinline__ void row(size_t head, int t, bool valid, int r, const Sum (&sums)[N],
                                      float logarithm) const {
    if (!valid) return;
    if (normaliser && threadIdx.x % 4 == 0) normaliser[head * o.count + t] = logarithm;
#pragma unroll
    for (int j = 0; j < N; ++j)
      put_two(o.at(head, t), 8 * j + int(threadIdx.x) % 4 * 2, o.width, sums[j].x[2 * r], sums[j].x[2 * r + 1]);
  }
};

/// Saves each query's statistics for the backward pass: the log of the softmax denominator, and do_t . o_t.
template <class T> struct LeaveStatistics {
  DeviceRows<const T> d_o;
  float *normaliser, *read; // [heads, queries]
  template <int N>
  __device__ __forceinline__ void row(size_t head, int t, bool valid, int r, const Sum (&sums)[N],
                                      float logarithm) const {
    float along = 0;
    if (valid)
#pragma unroll
      for (int j = 0; j < N; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int c = 8 * j + threadIdx.x % 4 * 2 + e;
          if (c < d_o.width) along += fragments::widened(d_o.at(head, t)[c]) * sums[j].x[2 * r + e];
        }
    along = tile::cuda::across_four(along);
    if (valid && threadIdx.x % 4 == 0) normaliser[head * d_o.count + t] = logarithm, read[head * d_o.count + t] = along;
  }
};

} // namespace recollect::variants::attention
#endif
