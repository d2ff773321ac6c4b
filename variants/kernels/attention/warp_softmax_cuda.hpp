// SPDX-License-Identifier: Apache-2.0
// Online softmax of attention logits in the registers of a warp. The forward kernels share this code, and differ in how
// they multiply (forward_cuda.hpp, forward_hopper_cuda.hpp).
//
//   z(t,i) = q_t . k_i,   p(t,i) = kernel(head, t, i, z), 0 where query t does not see key i
//   sum_t = sum_i p(t,i) v_i; a normalised kernel returns a logit, and p is its softmax
//
// A warp owns `tiles` tiles of 16 queries and reads `keys` keys at a time. The online softmax (Milakov and Gimelshein
// 2018) uses powers of 2 instead of e. Masking is skipped where all queries of the warp see all `keys` keys.
//
// A masked weight is 0, but 0 times Inf or NaN is NaN. If the sums of a warp are not finite, the warp computes them
// again by the scalar fallback.
#pragma once
#ifdef __CUDACC__
#include "variants/kernels/attention/fragments_cuda.hpp"

namespace recollect::variants::attention {

/// Each head of keys and values serves `group` heads of queries. `Finish` receives the normalised sums: WriteOutput or
/// LeaveStatistics.
template <class Op, int Dv, int tiles_, int keys_, class Kernel, class Finish> struct WarpSoftmax {
  using Element = fragments::Element<Op>;
  static constexpr int tiles = tiles_, keys = keys_, warp_rows = 16 * tiles;
  using Logits = Sum[tiles][keys / 8];

  DeviceRows<const Element> q, k, v;
  int heads, group;
  CausalMask mask;
  Kernel kernel;
  Finish finish;

protected:
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

  __device__ __forceinline__ bool is_negative() const {
    if constexpr (is_proportional<Kernel>) return kernel.normalised() && kernel.factor < 0;
    return false;
  }
  /// Negates the products q_t . k_i. Called if the factor between product and logit is negative, so that the largest
  /// logit has the largest negated product.
  __device__ __forceinline__ static void negate(Logits &p) {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int c = 0; c < keys / 8; ++c)
#pragma unroll
        for (int e = 0; e < 4; ++e) p[i][c].x[e] = -p[i][c].x[e];
  }

  /// Turns the products of queries t, t + 8 ... and keys key, key + 1, key + 8 ... into logits (or into weights, if
  /// there is no normaliser) and updates the running maxima. The maxima change only when a logit exceeds its query's
  /// maximum by more than `slack`. So weights are at most 2^slack, and sums are rarely rescaled. If this function
  /// returns true, the caller must rescale the sums by `shrink`.
  template <bool masked>
  __device__ __forceinline__ bool find_peaks_masked(size_t head, int t, int key, Logits &p, Sums &sums,
                                                    float (&shrink)[tiles][2]) const {
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
    if (!normalised || __all_sync(0xffffffffu, same)) return false;
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float now = fmaxf(sums.peak[i][r], highest[i][r]);
        shrink[i][r] = exp2_of(sums.peak[i][r] - (now == -INFINITY ? 0.0f : now));
        sums.peak[i][r] = now, sums.mass[i][r] *= shrink[i][r];
      }
    return true;
  }

  /// Calls find_peaks_masked() for all queries of the warp, which start at `first`. Masks pairs only if some query does
  /// not see all keys.
  __device__ __forceinline__ bool find_peaks(size_t head, int first, int key, Logits &p, Sums &sums,
                                             float (&shrink)[tiles][2]) const {
    if (is_negative()) negate(p);
    const int lane = threadIdx.x % 32, t = first + lane / 4, at = key + lane % 4 * 2;
    if (key + keys <= seen(first) && first + warp_rows <= q.count)
      return find_peaks_masked<false>(head, t, at, p, sums, shrink);
    return find_peaks_masked<true>(head, t, at, p, sums, shrink);
  }
  __device__ __forceinline__ static void rescale(Sums &sums, const float (&shrink)[tiles][2]) {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int j = 0; j < Dv / 8; ++j)
          sums.of[i][j].x[2 * r] *= shrink[i][r], sums.of[i][j].x[2 * r + 1] *= shrink[i][r];
  }

  /// Turns the logits of tile i and 16 keys (`first` and `second` have 8 each) into weights.
  __device__ __forceinline__ void weigh(int i, Sum &first, Sum &second, Sums &sums) const {
    if (!kernel.normalised()) return;
    const float scale = fabsf(exponent_scale(kernel));
#pragma unroll
    for (Sum *of : {&first, &second})
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float &x = of->x[e];
        x = exp2_of(fmaf(x, scale, sums.peak[i][e / 2] == -INFINITY ? 0.0f : -sums.peak[i][e / 2]));
        sums.mass[i][e / 2] += x;
      }
  }

  /// Computes the warp's sums again, query by query and key by key.
  __device__ __forceinline__ void scalar_fallback(size_t head, int first, Sums &sums) const {
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
            float x = fragments::warp_dot(q.at(head, t), k.at(head / group, key), q.width), shrink = 1;
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

  __device__ __forceinline__ void finish_rows(size_t head, int first, Sums &sums) const {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int query = first + int(threadIdx.x) % 32 / 4 + 16 * i + 8 * r;
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

/// Writes the outputs [heads, queries, Dv] and, unless `normaliser` is null, the logs of the softmax denominators.
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

/// Saves each query's statistics for the backward pass.
template <class T> struct LeaveStatistics {
  DeviceRows<const T> d_o;
  Statistics to;
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
    if (valid && threadIdx.x % 4 == 0)
      to.normaliser[head * d_o.count + t] = logarithm, to.read[head * d_o.count + t] = along;
  }
};

} // namespace recollect::variants::attention
#endif
