// SPDX-License-Identifier: Apache-2.0
// Chunk output. All chunks run in parallel, each from the state at its start (problem.hpp).
//
//   scores(t,i) = D(t,i) (q_t . k_i) for i <= t       (decayed sums: times write_i)
//   O = scale (diag(D(t,0)) Q S^T + scores E)         (decayed sums: V replaces E)
//
// A thread block computes some value channels of one chunk; each of its four warps takes 16 steps. Scores stay in
// registers, because the results of one product have the layout of the next product's first operand.
#pragma once
#include "variants/kernels/chunked/channel_local.hpp"
#include "variants/kernels/chunked/scalar_fallback.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

template <class Op, class Stored, int Dk, int values, bool erases, bool channels = false> struct ChunkOutput {
  using E = Element<Op>;
  static constexpr int warps = chunk / 16, threads = 32 * warps;
  static constexpr int slice = is_narrow<Op> ? (Dk <= 128 ? Dk : Dk / 2) : Dk <= 64 ? Dk : Dk == 96 ? 48 : 64;
  // the keys' channels are processed in slices, one after another, so that two blocks fit on a multiprocessor
  static constexpr int slices = Dk / slice;
  static constexpr int key_pitch = slice + fragments::pad<Op>, step_pitch = chunk + fragments::pad<Op>,
                       value_pitch = values + fragments::pad<Op>;
  static constexpr int keys_size = chunk * (channels && step_pitch > key_pitch ? step_pitch : key_pitch),
                       state_size = values * key_pitch,
                       values_size = erases ? values * step_pitch : chunk * value_pitch;
  static constexpr std::size_t bytes = (2 * keys_size + state_size + values_size) * sizeof(E);
  // Whether products with zeros are computed, too: for 16-bit operands, a branch costs more than these products.
  static constexpr bool all = is_narrow<Op>;

  Inputs<Stored> in;
  const E *states, *written; // saved by earlier stages. states: S at the chunks' starts; written: E
  Stored *o;
  const E *channel_queries = nullptr, *channel_scores = nullptr; // saved, where channels decay separately

  __device__ __forceinline__ void operator()(unsigned char *shared) const {
    __shared__ DecayTables decay;
    __shared__ float strength[chunk];
    const int K = in.kept_keys(), V = in.kept_values(), column_blocks = (V + values - 1) / values;
    const ChunkOfHead c = in.chunk_of_head(blockIdx.x / column_blocks);
    const int first_value = blockIdx.x % column_blocks * values, columns = min(values, V - first_value);
    const int thread = threadIdx.x, first = thread / 32 * 16; // the warp's first step
    E *const q = reinterpret_cast<E *>(shared), *const k = q + keys_size, *const S = k + keys_size,
             *const value = S + state_size;

    const auto load_keys = [&](int first) { // keys and queries of one slice
      const int left = in.Dk - first;
      if constexpr (channels)
        fragments::load_tile<Op, chunk, slice, key_pitch, threads>(channel_queries + c.chunk * chunk * K + first, K,
                                                                   chunk, K - first, q, thread);
      else
        fragments::load_tile<Op, chunk, slice, key_pitch, threads>(in.q + c.key_row * in.Dk + first, in.Dk, c.steps,
                                                                   left, q, thread);
      if constexpr (!channels)
        fragments::load_tile<Op, chunk, slice, key_pitch, threads>(in.k + c.key_row * in.Dk + first, in.Dk, c.steps,
                                                                   left, k, thread);
      fragments::load_tile<Op, values, slice, key_pitch, threads>(states + (c.chunk * V + first_value) * K + first, K,
                                                                  columns, K - first, S, thread);
      fragments::commit_copies();
    };
    load_keys(0);
    if constexpr (channels) // scores are copied to the buffer of the keys
      fragments::load_tile<Op, chunk, chunk, step_pitch, threads>(channel_scores + c.chunk * chunk * chunk, chunk,
                                                                  chunk, chunk, k, thread);
    if constexpr (erases)
      fragments::load_tile<Op, values, chunk, step_pitch, threads>(written + (c.chunk * V + first_value) * chunk, chunk,
                                                                   columns, chunk, value, thread);
    else
      fragments::load_tile<Op, chunk, values, value_pitch, threads>(in.v + c.row * in.Dv + first_value, in.Dv, c.steps,
                                                                    in.Dv - first_value, value, thread);
    fragments::commit_copies();
    const bool decays = in.alpha && !channels, strengthens = !erases && !channels && in.write;
    if (decays) decay.prepare(in.alpha + c.row, c.steps, thread, threads); // runs while rows are being copied
    if (strengthens && thread < chunk) strength[thread] = thread < c.steps ? in.write[c.row + thread] : 0;

    Sum scores[blocks], sum[values / 8];
#pragma unroll 1
    for (int nth = 0; nth < slices; ++nth) {
      if (nth * slice >= K) break;
      if (nth > 0) {
        __syncthreads(); // all warps have read the previous slice
        load_keys(nth * slice);
        fragments::wait_for_copies<0>();
      } else {
        fragments::wait_for_copies<1>();
      }
      __syncthreads();
#pragma unroll
      for (int j = 0; j < slice; j += 16) {
        if (!all && nth * slice + j >= K) break;
        const A16<Op> a = fragments::load_a<Op, key_pitch>(q, first, j);
#pragma unroll
        for (int i = 0; i < chunk; i += 16)
          if (!channels && (all || i <= first))
            fragments::multiply_add<Op>(a, fragments::load_b_across<Op, key_pitch>(k, j, i), scores[i / 8],
                                        scores[i / 8 + 1]);
#pragma unroll
        for (int n = 0; n < values; n += 16)
          if (all || n < columns)
            fragments::multiply_add<Op>(a, fragments::load_b_across<Op, key_pitch>(S, j, n), sum[n / 8],
                                        sum[n / 8 + 1]);
      }
    }
    float left[2]; // D(t,0)
    if (!channels) apply_decay(first, decays, decay, scores, left);
    if (strengthens) scale_columns(scores, strength);
    if (decays) scale_rows(sum, left);
    fragments::wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < chunk; i += 16) {
      if (i > first) break;
      A16<Op> a;
      if constexpr (channels)
        a = fragments::load_a<Op, step_pitch>(k, first, i);
      else
        a = fragments::as_a<Op>(scores[i / 8], scores[i / 8 + 1]);
#pragma unroll
      for (int n = 0; n < values; n += 16) {
        if (!all && n >= columns) break;
        B16<Op> b;
        if constexpr (erases)
          b = fragments::load_b_across<Op, step_pitch>(value, i, n);
        else
          b = fragments::load_b<Op, value_pitch>(value, i, n);
        fragments::multiply_add<Op>(a, b, sum[n / 8], sum[n / 8 + 1]);
      }
    }
    if (!all_finite(sum)) {
      const int last = min(first + 16, c.steps);
      if constexpr (channels)
        redo_channel_outputs(in, c, states, channel_queries, channel_scores, o, first, last, first_value, columns);
      else
        redo_outputs(in, c, states, written, o, first, last, first_value, columns);
      return;
    }
    scale(sum, in.scale);
    store_rows<Stored, values / 8>(sum, o + (c.row + first) * in.Dv + first_value, in.Dv, c.steps - first,
                                   min(values, in.Dv - first_value));
  }
};

/// Computes the outputs of all chunks: for delta rules from `written`, which is E; for decayed sums from v. If channels
/// decay separately, queries and scores are the results of channel_local().
template <class Op, bool erases, bool by_channel = false, class Stored>
void output_chunks(const Inputs<Stored> &in, const Element<Op> *states, const Element<Op> *written, Stored *o,
                   cudaStream_t stream, const Channels<Op> &channels = {}) {
  with_extent(in.Dk, [&](auto extent) {
    constexpr int Dk = decltype(extent)::value;
    const auto run = [&](auto width) {
      constexpr int values = decltype(width)::value;
      using Body = ChunkOutput<Op, Stored, Dk, values, erases, by_channel>;
      launch("chunk_output", in.chunks() * ((in.kept_values() + values - 1) / values), Body::bytes, stream,
             Body{in, states, written, o, channels.q, channels.scores});
    };
    if (in.Dv > 64)
      run(std::integral_constant<int, 128>());
    else
      run(std::integral_constant<int, 64>());
  });
}

} // namespace recollect::chunked
#endif
