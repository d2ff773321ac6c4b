// SPDX-License-Identifier: Apache-2.0
// A few steps of many heads (decoding), with the letters of problem.hpp. The recurrence runs step by step in one
// kernel, which reads and writes the state only once.
//
//   S_t = alpha_t S_{t-1} + e_t k_t^T,   e_t = write_t v_t - erase_t S_{t-1} k_t (decayed sums: erase 0)
//   o_t = scale S_t q_t
//
// Where channels decay separately, alpha_t diag(lambda_t) replaces alpha_t. With a bonus u_t, a step reads before it
// writes: o_t = scale (S_{t-1} + e_t (u_t k_t)^T) q_t.
//
// Eight lanes keep a row of S in registers. All arithmetic is float32. The memory traffic of the state limits the
// speed.
#pragma once
#include "variants/kernels/chunked/rows.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

enum class StepRule { sum, channels, erases };

template <class Stored, int Dk, StepRule rule> struct Steps {
  static constexpr bool erases = rule == StepRule::erases, channels = rule == StepRule::channels;
  static constexpr int warps = 4, threads = 32 * warps, across = 8,
                       down = 32 / across;        // across: lanes per row; down: rows at a time
  static constexpr int packs = Dk / (4 * across); // packs of four keys per lane
  static constexpr int rows = packs >= 5 ? 1 : packs >= 3 ? 2 : 8 / packs; // per lane
  static constexpr int rows_of_block = warps * down * rows;

  Inputs<Stored> in;
  const float *lambda, *bonus; // [B,H,T,Dk] where channels decay; null bonus: none
  Stored *o;
  float *end; // null: not wanted

  /// Loads a lane's four elements from `first` on, with zeros past `width`. If `whole`, rows start at multiples of 16
  /// bytes and are as wide as the extent: loads then need no branches, and the loads of all packs are in flight
  /// together.
  template <bool whole, class T>
  __device__ __forceinline__ static void take(const T *from, int first, int width, float (&to)[4]) {
    if constexpr (whole)
      load_four(from + first, to);
    else
#pragma unroll
      for (int e = 0; e < 4; ++e) to[e] = first + e < width ? widened(from[first + e]) : 0;
  }
  __device__ __forceinline__ static float dot(const float (&x)[packs][4], const float (&y)[packs][4]) {
    float sum = 0;
#pragma unroll
    for (int p = 0; p < packs; ++p)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum = fmaf(x[p][e], y[p][e], sum);
#pragma unroll
    for (int side = 1; side < across; side *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, side);
    return sum;
  }

  __device__ __forceinline__ void operator()(unsigned char *) const {
    const bool states_start =
        (reinterpret_cast<std::size_t>(in.start) | reinterpret_cast<std::size_t>(end)) % 16 == 0 &&
        in.state_stride % 4 == 0;
    if (in.Dk == Dk && in.Dv % rows_of_block == 0 && states_start && rows_aligned(in.q, Dk) && rows_aligned(in.k, Dk) &&
        rows_aligned(lambda, Dk) && rows_aligned(bonus, Dk))
      run<true>();
    else
      run<false>();
  }

private:
  template <bool whole> __device__ __forceinline__ void run() const {
    const int blocks = (in.Dv + rows_of_block - 1) / rows_of_block, head = blockIdx.x / blocks;
    const HeadOfText h = in.head_of_text(head / in.H, head % in.H);
    // column: the first column of the lane's first pack.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, column = lane % across * 4;
    const int first = blockIdx.x % blocks * rows_of_block + warp * down * rows + lane / across;
    float S[rows][packs][4];
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int p = 0; p < packs; ++p)
#pragma unroll
        for (int e = 0; e < 4; ++e) S[r][p][e] = 0;
    if (in.start)
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const int i = first + down * r;
        const float *const row = in.start + h.state * in.state_stride + std::size_t(i) * in.Dk;
#pragma unroll
        for (int p = 0; p < packs; ++p)
          if (whole || i < in.Dv) take<whole>(row, column + 4 * across * p, in.Dk, S[r][p]);
      }
#pragma unroll 1
    for (int t = 0; t < h.steps; ++t) {
      float k[packs][4], q[packs][4];
#pragma unroll
      for (int p = 0; p < packs; ++p) {
        take<whole>(in.k + (h.key_row + t) * in.Dk, column + 4 * across * p, in.Dk, k[p]);
        take<whole>(in.q + (h.key_row + t) * in.Dk, column + 4 * across * p, in.Dk, q[p]);
      }
      const std::size_t step = h.row + t;
      const float alpha = in.alpha ? in.alpha[step] : 1, write = in.write ? in.write[step] : 1,
                  erase = erases && in.erase ? in.erase[step] : 1;
      float decay[channels ? packs : 1][4], own = 0; // own: q_t . u_t k_t
      if constexpr (channels) {
#pragma unroll
        for (int p = 0; p < packs; ++p) {
          take<whole>(lambda + step * in.Dk, column + 4 * across * p, in.Dk, decay[p]);
#pragma unroll
          for (int e = 0; e < 4; ++e) decay[p][e] *= alpha;
        }
        if (bonus) {
          float weighed[packs][4];
#pragma unroll
          for (int p = 0; p < packs; ++p) {
            take<whole>(bonus + step * in.Dk, column + 4 * across * p, in.Dk, weighed[p]);
#pragma unroll
            for (int e = 0; e < 4; ++e) weighed[p][e] *= k[p][e];
          }
          own = dot(weighed, q);
        }
      }
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const int i = first + down * r;
        float e_t = whole || i < in.Dv ? write * widened(in.v[step * in.Dv + i]) : 0;
        if (erases) e_t -= erase * dot(S[r], k);
        float read = 0;
        if (channels && bonus) read = fmaf(own, e_t, dot(S[r], q));
#pragma unroll
        for (int p = 0; p < packs; ++p)
#pragma unroll
          for (int e = 0; e < 4; ++e) S[r][p][e] = fmaf(e_t, k[p][e], (channels ? decay[p][e] : alpha) * S[r][p][e]);
        if (!channels || !bonus) read = dot(S[r], q);
        if ((whole || i < in.Dv) && lane % across == 0) o[step * in.Dv + i] = rounded<Stored>(in.scale * read);
      }
    }
    if (!end) return;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = first + down * r;
      float *const to = end + h.state * in.state_stride + std::size_t(i) * in.Dk;
#pragma unroll
      for (int p = 0; p < packs; ++p) {
        const int j = column + 4 * across * p;
        if constexpr (whole) {
          __stwb(reinterpret_cast<float4 *>(to + j), make_float4(S[r][p][0], S[r][p][1], S[r][p][2], S[r][p][3]));
        } else if (i < in.Dv) {
#pragma unroll
          for (int e = 0; e < 4; ++e)
            if (j + e < in.Dk) to[j + e] = S[r][p][e];
        }
      }
    }
  }
};

/// Writes o [B,H,T,Dv] and, unless `end` is null, the final states to `end`, which may be in.start. Rows of all arrays
/// may start at any address.
template <class Stored>
void run_steps(const Inputs<Stored> &in, StepRule rule, const float *lambda, const float *bonus, Stored *o, float *end,
               cudaStream_t stream) {
  with_extent(in.Dk, [&](auto extent) {
    const auto run = [&](auto of_rule) {
      using Body = Steps<Stored, decltype(extent)::value, decltype(of_rule)::value>;
      launch("steps", std::size_t(in.texts()) * in.H * ((in.Dv + Body::rows_of_block - 1) / Body::rows_of_block), 0,
             stream, Body{in, lambda, bonus, o, end});
    };
    if (rule == StepRule::erases)
      run(std::integral_constant<StepRule, StepRule::erases>());
    else if (rule == StepRule::channels)
      run(std::integral_constant<StepRule, StepRule::channels>());
    else
      run(std::integral_constant<StepRule, StepRule::sum>());
  });
}

} // namespace recollect::chunked
#endif
