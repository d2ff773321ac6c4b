// SPDX-License-Identifier: Apache-2.0
// The gradients of a chunk of a decayed sum whose channels decay separately, given the state S at the chunk's start and
// the gradient dS of the state at its end, both [Dv,Dk]. All chunks run in parallel. With A(t,i) = q_t . D(t,i) k_i:
//
//   dv_i = dS D(C,i) k_i + sum_{t>=i} scale A(t,i) do_t
//
// The gradients of keys, queries and decays depend only on P(t,i) = scale do_t . v_i, Y_t = scale do_t S, Z_i = v_i dS
// and, for each channel, <dS,S>, the inner product of the channel's columns of dS and S. Y, Z and <dS,S> are first
// passed from the chunk to its sub-blocks of 16 steps. For sub-block c, let K(c)_i be the keys decayed to its end,
// Q(c)_t the queries decayed from its start, and w(c) the product of its decays:
//
//   Y_t <- w(c) Y_t + sum_{i in c} P(t,i) K(c)_i      for all sub-blocks c before that of step t, first to last
//   Z_i <- w(c) Z_i + sum_{t in c} P(t,i) Q(c)_t      for all sub-blocks c after that of step i, last to first
//
// Tensor cores compute these products. Within a sub-block, each thread computes one channel, step by step
// (channel_gradient.hpp). Nothing is divided by a decay, so decays of 0 have gradients, too.
#pragma once
#include "variants/kernels/chunked/group_sums.hpp"
#include "variants/kernels/chunked/scalar_gradients.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Computes the gradients of queries, keys, decays and bonuses. A thread block computes 64 channels of a chunk.
template <class Op, class Stored_> struct ChannelChunkGradient {
  using Stored = Stored_;
  using E = Element<Op>;
  static constexpr int width = 64, parts = 2, threads = 256, P = 32; // width: channels; P: width of panels
  static_assert(threads == width * sides, "one thread per channel of a sub-block");
  static constexpr int min_blocks = sizeof(E) == 2 ? 2 : 1;
  static constexpr int pitch = width + 8, panel_pitch = P + 8, gate_pitch = width + 4, pair_pitch = side + 4;
  static constexpr int steps_panel = chunk * panel_pitch, state_panel = P * pitch, buffers = 2,
                       panel_bytes = 2 * (steps_panel + state_panel) * int(sizeof(E));
  static constexpr int panels_bytes = buffers * panel_bytes, sums_bytes = 2 * chunk * gate_pitch * int(sizeof(float));
  static constexpr int first_bytes = panels_bytes > sums_bytes ? panels_bytes : sums_bytes;
  static constexpr int tile = chunk * pitch; // elements of a padded [steps,channels] or [steps,steps] matrix

  /// Tables of numbers per channel, and of the pairs of steps within each sub-block.
  struct Tables {
    float gates[chunk][gate_pitch];
    float pairs[sides][side][pair_pitch]; // P(t,i) as [sub-block][i][t]
    float whole[sides][width];            // w(c)
    float reads[sides][sides][width];     // [c][b] sum over t in b of Q(b)_t Y_t, with Y_t at the start of c
    float writes[sides][width];           // sum over i in c of K(c)_i Z_i, with Z_i at the chunk's end
    float across[sides][width];           // partial sums of <dS,S>
  };
  static constexpr int shared_bytes = first_bytes + 3 * tile * int(sizeof(E)) + int(sizeof(Tables));

  using Place = WarpPlace<parts>;
  using Channels = RowsOfSums<width, parts>;

  /// to[column] = the sum over the warp's rows of tile[row][column] * sum[row][column].
  __device__ __forceinline__ static void add_rows(const Place &at, const Channels &sum, const E *tile, float *to) {
#pragma unroll
    for (int j = 0; j < sum.groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int column = at.column(j, h);
        float own[2] = {0, 0};
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const float2 two = load_pair(tile + at.row_of(r) * pitch + column);
          own[0] += two.x * sum.x[j][h].x[2 * r], own[1] += two.y * sum.x[j][h].x[2 * r + 1];
        }
#pragma unroll
        for (int e = 0; e < 2; ++e) {
#pragma unroll
          for (int rows = 4; rows < 32; rows *= 2) own[e] += __shfl_xor_sync(0xffffffffu, own[e], rows);
          if (at.lane < 4) to[column + e] = own[e];
        }
      }
  }

  __device__ static void run(const ChannelAdjoint<Op, Stored> &a, unsigned char *shared) {
    const Inputs<Stored> &in = a.in;
    const int thread = threadIdx.x, K = in.kept_keys(), V = in.kept_values(), slices = (in.Dk + width - 1) / width,
              first = blockIdx.x % slices * width;
    const ChunkOfHead c = in.chunk_of_head(a.first_chunk + blockIdx.x / slices);
    E *const q = reinterpret_cast<E *>(shared + first_bytes), *const k = q + tile, *const pairs = k + tile;
    Tables &tables = *reinterpret_cast<Tables *>(pairs + tile);
    const Place at(thread);
    const int own = at.row / side; // the warp's sub-block

    load_panel<Op, chunk, width, threads>(in.q + c.key_row * in.Dk + first, in.Dk, c.steps, in.Dk - first, q);
    load_panel<Op, chunk, width, threads>(in.k + c.key_row * in.Dk + first, in.Dk, c.steps, in.Dk - first, k);
    fragments::load_tile<fragments::Tf32, chunk, width, gate_pitch, threads>(
        a.channels.lambda + c.row * in.Dk + first, in.Dk, c.steps, in.Dk - first, tables.gates[0], thread);
    fragments::commit_copies();

    const E *const S = a.states + c.chunk * V * K + first, *const dS = a.d_states + c.chunk * V * K + first;
    Channels Y, Z;
    {
      RowsOfSums<chunk, parts> dA;
      float across = 0; // <dS,S> of channel thread % width, summed over every fourth value
      PanelRing ring{shared, panel_bytes, buffers};
      stream_panels(
          ring, (in.Dv + P - 1) / P,
          [&](int n, unsigned char *buffer) {
            E *const given = reinterpret_cast<E *>(buffer), *const values = given + steps_panel,
                     *const start = values + steps_panel, *const end = start + state_panel;
            const int at = n * P;
            load_panel<Op, chunk, P, threads>(a.d_o + c.row * in.Dv + at, in.Dv, c.steps, in.Dv - at, given);
            load_panel<Op, chunk, P, threads>(in.v + c.row * in.Dv + at, in.Dv, c.steps, in.Dv - at, values);
            load_panel<Op, P, width, threads>(S + std::size_t(at) * K, K, V - at, K - first, start);
            load_panel<Op, P, width, threads>(dS + std::size_t(at) * K, K, V - at, K - first, end);
          },
          [&](int, unsigned char *buffer) {
            const E *const given = reinterpret_cast<const E *>(buffer), *const values = given + steps_panel,
                           *const start = values + steps_panel, *const end = start + state_panel;
            add_product<Op, Lies::along, panel_pitch, Lies::along, panel_pitch, P>(at, at.row, given, values, dA, 0, P,
                                                                                   at.row + side);
            add_product<Op, Lies::along, panel_pitch, Lies::across, pitch, P>(at, at.row, given, start, Y);
            add_product<Op, Lies::along, panel_pitch, Lies::across, pitch, P>(at, at.row, values, end, Z);
#pragma unroll
            for (int i = 0; i < P; i += sides) {
              const int cell = (i + thread / width) * pitch + thread % width;
              across = fmaf(widened(start[cell]), widened(end[cell]), across);
            }
          });
      tables.across[thread / width][thread % width] = across;
      dA.scale_rows({in.scale, in.scale}), Y.scale_rows({in.scale, in.scale});
      put_rows(at, dA, pairs, pitch, chunk, chunk);
      dA.each_pair(at, [&](int r, int column, float x, float y) {
        const int i = column - at.row, t = at.row_of(r) - at.row;
        if (i >= 0 && i < side) tables.pairs[own][i][t] = x, tables.pairs[own][i + 1][t] = y;
      });
    }
    for (int n = thread; n < (chunk - c.steps) * width; n += threads) tables.gates[c.steps + n / width][n % width] = 1;
    __syncthreads();
    const bool reads_first = a.channels.bonus;
    decay_within<E, width, pitch, gate_pitch, threads>(reads_first, q, k, tables.gates[0], tables.whole[0]);
    __syncthreads();

    add_rows(at, Z, k, tables.writes[own]);
#pragma unroll 1
    for (int b = 0; b < own; ++b) {
      add_rows(at, Y, q, tables.reads[b][own]);
      Y.scale_columns(at, tables.whole[b]);
      add_product<Op, Lies::along, pitch, Lies::across, pitch, side>(at, at.row, pairs + side * b, k + side * b * pitch,
                                                                     Y);
    }
#pragma unroll 1
    for (int b = sides - 1; b > own; --b) {
      Z.scale_columns(at, tables.whole[b]);
      add_product<Op, Lies::across, pitch, Lies::across, pitch, side>(at, at.row, pairs + side * b * pitch,
                                                                      q + side * b * pitch, Z);
    }
    float(*const started)[gate_pitch] = reinterpret_cast<float(*)[gate_pitch]>(shared), // rows of Y and of Z
        (*const left)[gate_pitch] = started + chunk;
    put_rows(at, Y, started[0], gate_pitch, chunk, width);
    put_rows(at, Z, left[0], gate_pitch, chunk, width);
    __syncthreads();
    if (first + thread % width >= in.Dk) return;
    if (reads_first)
      steps_of_channel<1>(a, c, first, tables, started, left);
    else
      steps_of_channel<0>(a, c, first, tables, started, left);
  }

  /// Computes the gradients of one channel in a sub-block. If steps read before they write, `early` is 1, else 0: query
  /// q_{s + early} is the first that reads the state after step s.
  template <int early>
  __device__ __forceinline__ static void
  steps_of_channel(const ChannelAdjoint<Op, Stored> &a, const ChunkOfHead &c, int first, const Tables &tables,
                   const float (*started)[gate_pitch], const float (*left)[gate_pitch]) {
    const int j = threadIdx.x % width, own = threadIdx.x / width, begin = own * side, steps = c.steps - begin;
    if (steps <= 0) return;
    const std::size_t Dk = a.in.Dk, own_row = (c.row + begin) * Dk + first + j,
                      key_row = (c.key_row + begin) * Dk + first + j;
    float end = 0; // <dS,S> with S at the sub-block's start and dS at its end
#pragma unroll
    for (int b = 0; b < sides; ++b) end += tables.across[b][j];
#pragma unroll
    for (int b = 0; b < sides; ++b) {
      if (b != own) end *= tables.whole[b][j];
      if (b < own) end += tables.writes[b][j];
    }
    float between = 1;
#pragma unroll
    for (int b = 1; b < sides; ++b)
      if (b > own) end = fmaf(between, tables.reads[own][b][j], end), between *= tables.whole[b][j];

    float y[side], query[side], decay[side];
#pragma unroll
    for (int t = 0; t < side; ++t) {
      y[t] = started[begin + t][j], decay[t] = tables.gates[begin + t][j];
      query[t] = t < steps ? widened(a.in.q[key_row + t * Dk]) : 0;
    }
#pragma unroll
    for (int s = 0; s < side; ++s) {
      if (s >= steps) break;
      const std::size_t to = own_row + s * Dk;
      const float key = widened(a.in.k[key_row + s * Dk]);
      if (a.d_lambda) {
        float sum = end;
#pragma unroll
        for (int t = side - 1; t >= s; --t) {
          if (t + early < side) sum = fmaf(query[t + early], y[t + early], sum);
          if (t > s) sum *= decay[t];
        }
        a.d_lambda[to] = sum;
      }
      const float z = left[begin + s][j];
      end = fmaf(decay[s], end, key * z);
      float pair[side], sum = z; // P(t,s)
#pragma unroll
      for (int t = s / 4 * 4; t < side; t += 4) {
        const float4 four = *reinterpret_cast<const float4 *>(&tables.pairs[own][s][t]);
        pair[t] = four.x, pair[t + 1] = four.y, pair[t + 2] = four.z, pair[t + 3] = four.w;
      }
#pragma unroll
      for (int t = s + early; t < side; ++t) y[t] = fmaf(decay[s], y[t], key * pair[t]);
#pragma unroll
      for (int t = side - 1; t >= s; --t) {
        if (t + early < side) sum = fmaf(pair[t + early], query[t + early], sum);
        if (t > s) sum *= decay[t];
      }
      float d_query = y[s];
      if constexpr (early) { // the step reads its own write
        const float bonus = a.channels.bonus[to];
        d_query = fmaf(pair[s] * bonus, key, d_query), sum = fmaf(pair[s] * bonus, query[s], sum);
        if (a.d_bonus) a.d_bonus[to] = pair[s] * key * query[s];
      }
      a.d_q[to] = rounded<Stored>(d_query), a.d_k[to] = rounded<Stored>(sum);
    }
  }
};

/// Computes the gradients of values. A thread block computes 64 values of a chunk.
template <class Op, class Stored_> struct ChannelValueGradient {
  using Stored = Stored_;
  using E = Element<Op>;
  static constexpr int width = 64, parts = 2, threads = 256, P = 32, min_blocks = 2;
  static constexpr int pitch = width + 8, panel_pitch = P + 8, panel = chunk * panel_pitch, tile = chunk * pitch;
  static constexpr int buffers = 2, panel_bytes = 2 * panel * int(sizeof(E)),
                       shared_bytes = 2 * tile * int(sizeof(E)) + buffers * panel_bytes;
  static_assert(width == chunk, "panels of keys and of states have the same size");

  __device__ static void run(const ChannelAdjoint<Op, Stored> &a, unsigned char *shared) {
    const Inputs<Stored> &in = a.in;
    const int K = in.kept_keys(), V = in.kept_values(), column_blocks = (V + width - 1) / width,
              first = blockIdx.x % column_blocks * width;
    const ChunkOfHead c = in.chunk_of_head(blockIdx.x / column_blocks);
    E *const A = reinterpret_cast<E *>(shared), *const given = A + tile;
    const E *const scores = a.channels.scores + c.chunk * chunk * chunk,
                   *const keys = a.channels.k + c.chunk * chunk * K, *const dS = a.d_states + (c.chunk * V + first) * K;
    const Stored *const d_o = a.d_o + c.row * in.Dv + first;
    const WarpPlace<parts> at(threadIdx.x);
    load_panel<Op, chunk, chunk, threads>(scores, chunk, chunk, chunk, A);
    load_panel<Op, chunk, width, threads>(d_o, in.Dv, c.steps, in.Dv - first, given);
    fragments::commit_copies();
    RowsOfSums<width, parts> carried, read;
    PanelRing ring{shared + 2 * tile * sizeof(E), panel_bytes, buffers};
    stream_panels(
        ring, (K + P - 1) / P,
        [&](int n, unsigned char *buffer) {
          E *const to = reinterpret_cast<E *>(buffer);
          load_panel<Op, chunk, P, threads>(keys + n * P, K, chunk, K - n * P, to);
          load_panel<Op, width, P, threads>(dS + n * P, K, V - first, K - n * P, to + panel);
        },
        [&](int, unsigned char *buffer) {
          const E *const from = reinterpret_cast<const E *>(buffer);
          add_product<Op, Lies::along, panel_pitch, Lies::along, panel_pitch, P>(at, at.row, from, from + panel,
                                                                                 carried);
        });
    add_product<Op, Lies::across, pitch, Lies::across, pitch, chunk>(at, at.row, A, given, read, at.row);
#pragma unroll
    for (int j = 0; j < read.groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int e = 0; e < 4; ++e) carried.x[j][h].x[e] = fmaf(in.scale, read.x[j][h].x[e], carried.x[j][h].x[e]);
    Stored *const d_v = a.d_v + c.row * in.Dv + first;
    if (block_is_finite(carried)) return put_rows(at, carried, d_v, in.Dv, c.steps, in.Dv - first);
    // Scalar fallback, in which no step reads an earlier output's gradient.
    for (int n = threadIdx.x; n < c.steps * width; n += threads) {
      const int i = n / width, v = n % width;
      if (first + v >= in.Dv) continue;
      float sum = 0;
      for (int t = i; t < c.steps; ++t)
        sum += widened(scores[t * chunk + i]) * widened(d_o[std::size_t(t) * in.Dv + v]);
      sum *= in.scale;
      for (int j = 0; j < in.Dk; ++j) sum += widened(keys[i * K + j]) * widened(dS[std::size_t(v) * K + j]);
      d_v[std::size_t(i) * in.Dv + v] = rounded<Stored>(sum);
    }
  }
};

/// Number of elements in the array `scratch` of channel_gradients(). The next function: number of elements in `decays`.
template <class Stored> std::size_t channel_scratch(const Inputs<Stored> &in) {
  const std::size_t K = in.kept_keys(), V = in.kept_values();
  return in.chunks() * (2 * V * K + chunk * (2 * K + chunk));
}
template <class Stored> std::size_t channel_decays_scratch(const Inputs<Stored> &in) {
  return in.chunks() * in.kept_keys();
}

/// Computes the gradients of a decayed sum whose channels decay separately, without strengths and without alpha. Lambda
/// and the bonus are in a.channels. Both scratch arrays are aligned to 16 bytes.
template <class Op, class Stored>
void channel_gradients(ChannelAdjoint<Op, Stored> a, Element<Op> *scratch, float *decays, cudaStream_t stream,
                       Segments segments) {
  const Inputs<Stored> &in = a.in;
  const std::size_t K = in.kept_keys(), V = in.kept_values(), chunks = in.chunks();
  const auto take = [&](std::size_t each) {
    Element<Op> *const own = scratch;
    scratch += chunks * each;
    return own;
  };
  Element<Op> *const states = take(V * K);
  a.states = states, a.d_states = take(V * K);
  a.channels.q = take(chunk * K), a.channels.k = take(chunk * K), a.channels.scores = take(chunk * chunk);
  a.channels.total = decays;
  channel_local<Op>(in, a.channels, stream);
  const Element<Op> *const none = nullptr;
  pass_states<Op, false, true>(in, none, none, states, static_cast<Element<Op> *>(nullptr), nullptr, stream, segments,
                               a.channels);
  with_extent(in.Dk, [&](auto extent) {
    pass_gradients_back<StateGradient<Op, Stored, decltype(extent)::value, false, true>>(a, segments, stream);
  });
  using Keys = ChannelChunkGradient<Op, Stored>;
  using Values = ChannelValueGradient<Op, Stored>;
  using Arguments = ChannelAdjoint<Op, Stored>;
  over_groups(a, stream, [&](const Arguments &own, std::size_t count) {
    launch("channel_chunk_gradient", run_chunk_stage<Keys, Arguments>,
           count * ((in.Dk + Keys::width - 1) / Keys::width), Keys::threads, Keys::shared_bytes, stream, own);
  });
  launch("channel_value_gradient", run_chunk_stage<Values, Arguments>,
         chunks * ((V + Values::width - 1) / Values::width), Values::threads, Values::shared_bytes, stream, a);
}

} // namespace recollect::chunked
#endif
