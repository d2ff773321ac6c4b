// SPDX-License-Identifier: Apache-2.0
// Scalar fallback of a chunk's outputs. A later step has weight 0 in the output of an earlier step, but in a matrix
// product an Inf or NaN of the later step still reaches that output. These loops never read a step after the output's.
#pragma once
#include "variants/kernels/chunked/rows.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

using fragments::warp_dot, fragments::warp_sum;

/// Whether all results of the warp are finite.
template <int N> __device__ __forceinline__ bool all_finite(const Sum (&x)[N]) {
  float sign = 0; // NaN if any is not finite
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) sign = fmaf(x[n].x[e], 0.0f, sign);
  return !__any_sync(0xffffffffu, sign != sign);
}

/// Computes the outputs of steps `first` ... `last` - 1 of a chunk, for `columns` values from first_value on, by one
/// warp. `written` is the saved E; if it is null, step i writes write_i v_i. Null states are 0.
template <class Stored, class E>
__device__ __noinline__ void redo_outputs(const Inputs<Stored> &in, ChunkOfHead c, const E *states, const E *written,
                                          Stored *o, int first, int last, int first_value, int columns) {
  const int lane = threadIdx.x % 32, K = in.kept_keys(), V = in.kept_values();
  for (int t = first; t < last; ++t) {
    const Stored *const q = in.q + (c.key_row + t) * in.Dk;
    for (int begin = 0; begin < columns; begin += 32) { // one column per lane
      const int j = first_value + begin + lane;
      const bool valid = begin + lane < columns && j < in.Dv;
      float sum = 0, decay = 1;
      for (int i = t; i >= 0; --i) {
        const float weight = decay * warp_dot(q, in.k + (c.key_row + i) * in.Dk, in.Dk);
        if (valid)
          sum += weight * (written ? widened(written[(c.chunk * V + j) * chunk + i])
                                   : (in.write ? in.write[c.row + i] : 1) * widened(in.v[(c.row + i) * in.Dv + j]));
        if (in.alpha) decay *= in.alpha[c.row + i];
      }
      if (states && valid) {
        const E *const S = states + (c.chunk * V + j) * K;
        for (int d = 0; d < in.Dk; ++d) sum += decay * widened(q[d]) * widened(S[d]);
      }
      if (valid) o[(c.row + t) * in.Dv + j] = rounded<Stored>(in.scale * sum);
    }
  }
}

/// Like redo_outputs(), but from saved queries and scores, which already include the decays (channel_local.hpp).
template <class Stored, class E>
__device__ __noinline__ void redo_channel_outputs(const Inputs<Stored> &in, ChunkOfHead c, const E *states, const E *q,
                                                  const E *scores, Stored *o, int first, int last, int first_value,
                                                  int columns) {
  const int K = in.kept_keys(), V = in.kept_values();
  for (int n = threadIdx.x % 32; n < (last - first) * columns; n += 32) {
    const int t = first + n / columns, j = first_value + n % columns;
    if (j >= in.Dv) continue;
    const E *const S = states + (c.chunk * V + j) * K, *const own_q = q + (c.chunk * chunk + t) * K,
                   *const own_scores = scores + (c.chunk * chunk + t) * chunk;
    float sum = 0;
    for (int i = 0; i <= t; ++i) sum += widened(own_scores[i]) * widened(in.v[(c.row + i) * in.Dv + j]);
    for (int d = 0; d < in.Dk; ++d) sum += widened(own_q[d]) * widened(S[d]);
    o[(c.row + t) * in.Dv + j] = rounded<Stored>(in.scale * sum);
  }
}

} // namespace recollect::chunked
#endif
