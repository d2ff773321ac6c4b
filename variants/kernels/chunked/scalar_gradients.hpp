// SPDX-License-Identifier: Apache-2.0
// Scalar fallback of a chunk's gradients. A masked step has weight 0, but in a matrix product its Inf or NaN still
// reaches other steps. These loops (chunk_gradient.hpp has the formulas) never read a masked step. All warps of a block
// run the loops and take the rows of results in turn. The gradients of alpha have no fallback.
#pragma once
#include "variants/kernels/chunked/scalar_fallback.hpp"
#include "variants/kernels/chunked/state_gradient.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Whether all results of the block are finite. Contains a barrier.
template <class Sums> __device__ __forceinline__ bool block_is_finite(const Sums &sums) {
  float sign = 0; // NaN if any is not finite
#pragma unroll
  for (int j = 0; j < sums.groups; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int e = 0; e < 4; ++e) sign = fmaf(sums.x[j][h].x[e], 0.0f, sign);
  return !__syncthreads_or(sign != sign);
}

template <class Op, class Stored, bool erases> struct ScalarGradients {
  using E = Element<Op>;
  const Adjoint<Op, Stored> &a;
  const ChunkOfHead c;

  __device__ float number(const float *of, int step) const { return of ? of[c.row + step] : 1.0f; }
  __device__ float alpha(int step) const { return number(a.in.alpha, step); }
  __device__ float strength(int step) const { return erases ? 1.0f : number(a.in.write, step); }
  __device__ const Stored *key(int step) const { return a.in.k + (c.key_row + step) * a.in.Dk; }
  __device__ const Stored *query(int step) const { return a.in.q + (c.key_row + step) * a.in.Dk; }
  __device__ const Stored *given(int step) const { return a.d_o + (c.row + step) * a.in.Dv; }
  __device__ const E *solved(int step) const { return a.d_E + (c.chunk * chunk + step) * a.in.kept_values(); }
  __device__ const E *start(int value) const { return kept(a.states, value); }
  __device__ const E *end(int value) const { return kept(a.d_states, value); }
  __device__ const E *kept(const E *states, int value) const {
    return states + (c.chunk * a.in.kept_values() + value) * a.in.kept_keys();
  }
  /// Channel `value` of what a step writes: of v_t, or of e_t for a delta rule.
  __device__ float written(int step, int value) const {
    if constexpr (erases)
      return widened(a.E[(c.chunk * a.in.kept_values() + value) * chunk + step]);
    else
      return widened(a.in.v[(c.row + step) * a.in.Dv + value]);
  }
  template <class X> __device__ float dot_written(const X *x, int step) const {
    float sum = 0;
    for (int i = threadIdx.x % 32; i < a.in.Dv; i += 32) sum += widened(x[i]) * written(step, i);
    return warp_sum(sum);
  }
  /// Calls f(step, column) with one step per warp and the columns spread over its lanes. All lanes call f, also for
  /// column >= width.
  template <class F> __device__ void each(int width, const F &f) const {
    for (int step = threadIdx.x / 32; step < c.steps; step += blockDim.x / 32)
      for (int first = 0; first < width; first += 32) f(step, first + int(threadIdx.x) % 32);
  }

  __device__ __noinline__ void queries() const {
    each(a.in.Dk, [&](int t, int j) {
      const bool valid = j < a.in.Dk;
      float sum = 0, decay = 1;
      for (int i = t; i >= 0; --i) {
        const float weight = decay * strength(i) * dot_written(given(t), i);
        if (valid) sum += weight * widened(key(i)[j]);
        decay *= alpha(i);
      }
      if (!valid) return;
      for (int v = 0; v < a.in.Dv; ++v) sum += decay * widened(start(v)[j]) * widened(given(t)[v]);
      a.d_q[(c.row + t) * a.in.Dk + j] = rounded<Stored>(a.in.scale * sum);
    });
  }
  /// Computes dk and the gradient of a step's strength (the write strength of decayed sums, the erase strength of delta
  /// rules).
  __device__ __noinline__ void keys() const {
    float *const gate = erases ? a.d_erase : a.d_write;
    for (int i = threadIdx.x / 32; i < c.steps; i += blockDim.x / 32) {
      float along = 0;
      for (int first = 0; first < a.in.Dk; first += 32) {
        const int j = first + int(threadIdx.x) % 32;
        const bool valid = j < a.in.Dk;
        float sum = 0, own = 0, decay = 1, earlier = 0; // decay: D(t,i); earlier: D(t-1,i)
        for (int t = i; t < c.steps; ++t) {
          if (t > i) earlier = decay, decay *= alpha(t);
          const float weight = a.in.scale * decay * dot_written(given(t), i);
          if (valid) sum += weight * widened(query(t)[j]);
          if constexpr (erases)
            if (t > i) {
              const float erased = earlier * number(a.in.erase, t) * dot_written(solved(t), i);
              if (valid) sum -= erased * widened(key(t)[j]);
            }
        }
        if constexpr (erases) {
          float before = 1; // D(i-1,l)
          for (int l = i - 1; l >= 0; --l) {
            const float weight = before * dot_written(solved(i), l);
            if (valid) own -= weight * widened(key(l)[j]);
            before *= alpha(l);
          }
          if (valid)
            for (int v = 0; v < a.in.Dv; ++v) own -= before * widened(start(v)[j]) * widened(solved(i)[v]);
        }
        if (!valid) continue;
        for (int v = 0; v < a.in.Dv; ++v) sum += decay * widened(end(v)[j]) * written(i, v);
        along += widened(key(i)[j]) * (erases ? own : sum);
        const float whole = erases ? sum + number(a.in.erase, i) * own : strength(i) * sum;
        a.d_k[(c.row + i) * a.in.Dk + j] = rounded<Stored>(whole);
      }
      along = warp_sum(along);
      if (gate && threadIdx.x % 32 == 0) gate[c.row + i] = along;
    }
  }
  /// Returns channel `value` of sum_{t>=i} scale D(t,i) (q_t . k_i) do_t; `decay` becomes D(C,i).
  __device__ float read_later(int i, int value, float &decay) const {
    float sum = 0;
    decay = 1;
    for (int t = i; t < c.steps; ++t) {
      if (t > i) decay *= alpha(t);
      const float weight = a.in.scale * decay * warp_dot(query(t), key(i), a.in.Dk);
      if (value < a.in.Dv) sum += weight * widened(given(t)[value]);
    }
    return sum;
  }
  /// Computes dv of decayed sums.
  __device__ __noinline__ void values() const {
    each(a.in.Dv, [&](int i, int v) {
      float decay, sum = read_later(i, v, decay);
      if (v >= a.in.Dv) return;
      for (int j = 0; j < a.in.Dk; ++j) sum += decay * widened(end(v)[j]) * widened(key(i)[j]);
      a.d_v[(c.row + i) * a.in.Dv + v] = rounded<Stored>(strength(i) * sum);
    });
  }
  /// Computes dE as error_gradient.hpp does.
  __device__ __noinline__ void errors() const {
    each(a.in.Dv, [&](int i, int v) {
      float decay;
      const float sum = read_later(i, v, decay);
      if (v < a.in.Dv) a.d_E[(c.chunk * chunk + i) * a.in.kept_values() + v] = rounded<E>(sum);
    });
  }
  /// Replaces dE by dY, from the last step to the first, then computes dv and d write. One column per lane.
  __device__ __noinline__ void solve() const {
    for (int first = threadIdx.x / 32 * 32; first < a.in.Dv; first += blockDim.x) {
      const int v = first + int(threadIdx.x) % 32;
      for (int i = c.steps - 1; i >= 0; --i) {
        E *const own = a.d_E + (c.chunk * chunk + i) * a.in.kept_values() + v;
        float y = v < a.in.Dv ? widened(*own) : 0, decay = 1; // D(t-1,i)
        for (int t = i + 1; t < c.steps; ++t) {
          const float erased = number(a.in.erase, t) * decay * warp_dot(key(t), key(i), a.in.Dk);
          if (v < a.in.Dv) y -= erased * widened(solved(t)[v]);
          decay *= alpha(t);
        }
        if (v >= a.in.Dv) continue;
        *own = rounded<E>(y);
        a.d_v[(c.row + i) * a.in.Dv + v] = rounded<Stored>(number(a.in.write, i) * y);
      }
    }
    __syncthreads();
    if (a.d_write)
      for (int i = threadIdx.x / 32; i < c.steps; i += blockDim.x / 32) {
        const float sum = warp_dot(solved(i), a.in.v + (c.row + i) * a.in.Dv, a.in.Dv);
        if (threadIdx.x % 32 == 0) a.d_write[c.row + i] = sum;
      }
    __syncthreads();
  }
};

} // namespace recollect::chunked
#endif
