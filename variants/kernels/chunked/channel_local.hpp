// SPDX-License-Identifier: Apache-2.0
// Chunk-local phase of decayed sums whose key channels decay separately, by lambda_t [Dk]: S_t = S_{t-1} diag(lambda_t)
// + write_t v_t k_t^T (problem.hpp). The results of this phase include the decays within the chunk, here one per
// channel:
//
//   Q(t) = D(t,0) q_t,   K(i) = D(C,i) k_i,   total = D(C,0),   scores(t,i) = q_t . D(t,i) k_i for i <= t
//
// With a bonus u_t the state is read before it is written (RWKV-6). Then D(t-1,i) replaces D(t,i) for i < t, and
// scores(t,t) = q_t . u_t k_t.
//
// The chunk has sub-blocks of 16 steps. Scores of steps in the same sub-block are summed with running products of
// decays. If the steps are in different sub-blocks, the query is multiplied by the decays since the start of its
// sub-block, the key by the decays to the end of its sub-block, and the pair by the total decay of each sub-block in
// between. Tensor cores compute these products. Decays are always products, never quotients.
#pragma once
#include "variants/kernels/chunked/rows.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

/// Gates of the channels, and what the chunk-local phase saves for each chunk; K = kept_keys().
template <class Op> struct Channels {
  const float *lambda = nullptr;          // [B,H,T,Dk]
  const float *bonus = nullptr;           // [B,H,T,Dk]; null: no bonus, a step writes before it reads
  Element<Op> *q = nullptr, *k = nullptr; // saved [64,K]
  Element<Op> *scores = nullptr;          // saved [64,64], times write_i
  float *total = nullptr;                 // saved [K]
};

/// Like load_a, with column j multiplied by factor[j].
template <class Op, int pitch>
__device__ __forceinline__ A16<Op> load_a_scaled(const Element<Op> *tile, int row, int term, const float *factor) {
  const int lane = threadIdx.x % 32;
  float x[2][2][2];
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const int j = term + 8 * g + lane % 4 * 2;
    const float2 f = load_pair(factor + j);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float2 two = load_pair(tile + (row + lane / 4 + 8 * r) * pitch + j);
      x[g][r][0] = f.x * two.x, x[g][r][1] = f.y * two.y;
    }
  }
  if constexpr (is_narrow<Op>) {
    using E = Element<Op>;
    return {{fragments::packed<E>(x[0][0][0], x[0][0][1]), fragments::packed<E>(x[0][1][0], x[0][1][1]),
             fragments::packed<E>(x[1][0][0], x[1][0][1]), fragments::packed<E>(x[1][1][0], x[1][1][1])}};
  } else {
    return fragments::detail::operand_a<Op>(x);
  }
}

constexpr int side = 16, sides = chunk / side; // side: steps per sub-block; sides: sub-blocks

/// In place, multiplies q_t by the decays since its sub-block's start and k_i by the decays to its sub-block's end. If
/// `reads_first`, q_t is not multiplied by the decay of step t itself. Writes the decay of each sub-block to `whole`
/// [sides,width]. Each thread takes one channel of one sub-block.
template <class E, int width, int pitch, int gate_pitch, int threads>
__device__ __forceinline__ void decay_within(bool reads_first, E *q, E *k, const float *gates, float *whole) {
  for (int n = threadIdx.x; n < sides * width; n += threads) {
    const int first = n / width * side, j = n % width;
    E *const of_q = q + first * pitch + j, *const of_k = k + first * pitch + j;
    float gate[side], x[side], product = 1;
#pragma unroll
    for (int t = 0; t < side; ++t) gate[t] = gates[(first + t) * gate_pitch + j], x[t] = widened(of_q[t * pitch]);
#pragma unroll
    for (int t = 0; t < side; ++t) {
      const float before = product;
      product *= gate[t];
      of_q[t * pitch] = rounded<E>(x[t] * (reads_first ? before : product));
    }
    whole[n] = product, product = 1;
#pragma unroll
    for (int t = 0; t < side; ++t) x[t] = widened(of_k[t * pitch]);
#pragma unroll
    for (int t = side - 1; t >= 0; --t) {
      of_k[t * pitch] = rounded<E>(x[t] * product);
      product *= gate[t];
    }
  }
}

template <class Op, class Stored, int Dk> struct ChannelLocal {
  using E = Element<Op>;
  static constexpr int warps = sides, threads = 32 * warps;
  static constexpr int pitch = Dk + fragments::pad<Op>, gate_pitch = Dk + 4, score_pitch = chunk + 4;
  static constexpr std::size_t bytes =
      2 * chunk * pitch * sizeof(E) + (chunk * gate_pitch + chunk * score_pitch + 2 * sides * Dk) * sizeof(float);

  Inputs<Stored> in;
  Channels<Op> channels;

  __device__ __forceinline__ void operator()(unsigned char *shared) const {
    const int K = in.kept_keys(), thread = threadIdx.x;
    const ChunkOfHead c = in.chunk_of_head(blockIdx.x);
    E *const q = reinterpret_cast<E *>(shared), *const k = q + chunk * pitch;
    float *const gates = reinterpret_cast<float *>(k + chunk * pitch), *const scores = gates + chunk * gate_pitch;
    float *const whole = scores + chunk * score_pitch; // [sides,Dk] decay of a whole sub-block
    float *const between = whole + sides * Dk;         // [sides - 1,Dk] decays of sub-block 1, of 2, of both together

    fragments::load_tile<Op, chunk, Dk, pitch, threads>(in.q + c.key_row * in.Dk, in.Dk, c.steps, in.Dk, q, thread);
    fragments::load_tile<Op, chunk, Dk, pitch, threads>(in.k + c.key_row * in.Dk, in.Dk, c.steps, in.Dk, k, thread);
    fragments::load_tile<fragments::Tf32, chunk, Dk, gate_pitch, threads>(channels.lambda + c.row * in.Dk, in.Dk,
                                                                          c.steps, in.Dk, gates, thread);
    fragments::commit_copies();
    for (int n = thread; n < chunk * score_pitch; n += threads) scores[n] = 0;
    fragments::wait_for_copies<0>();
    __syncthreads();
    complete_gates(c, gates);

    sum_own_pairs(c, q, k, gates, scores);
    __syncthreads();
    decay_within<E, Dk, pitch, gate_pitch, threads>(channels.bonus, q, k, gates, whole);
    __syncthreads();
    for (int j = thread; j < Dk; j += threads) {
      between[j] = whole[Dk + j], between[Dk + j] = whole[2 * Dk + j];
      between[2 * Dk + j] = whole[Dk + j] * whole[2 * Dk + j];
      if (j < K) channels.total[c.chunk * K + j] = whole[j] * between[2 * Dk + j] * whole[3 * Dk + j];
    }
    __syncthreads();
    multiply_pairs(q, k, between, K, scores);
    __syncthreads();

#pragma unroll 4
    for (int n = thread; n < chunk * chunk / 4; n += threads) {
      const int t = n / (chunk / 4), i = n % (chunk / 4) * 4;
      float x[4];
      load_four(scores + t * score_pitch + i, x);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (i + e > t)
          x[e] = 0;
        else if (in.write && i + e < c.steps)
          x[e] *= in.write[c.row + i + e];
      }
      put(channels.scores + (c.chunk * chunk + t) * chunk + i, x);
    }
#pragma unroll 2
    for (int n = thread; n < chunk * (K / 4); n += threads) {
      const int t = n / (K / 4), j = n % (K / 4) * 4, b = t / side;
      float of_q[4], of_k[4];
      load_four(q + t * pitch + j, of_q), load_four(k + t * pitch + j, of_k);
#pragma unroll
      for (int s = 0; s < sides; ++s) {
        float w[4];
        load_four(whole + s * Dk + j, w);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (s < b) of_q[e] *= w[e];
          if (s > b) of_k[e] *= w[e];
        }
      }
      put(channels.q + (c.chunk * chunk + t) * K + j, of_q);
      put(channels.k + (c.chunk * chunk + t) * K + j, of_k);
    }
  }

  __device__ __forceinline__ static void put(E *to, const float (&x)[4]) {
    if constexpr (is_narrow<Op>)
      *reinterpret_cast<uint2 *>(to) = make_uint2(fragments::packed<E>(x[0], x[1]), fragments::packed<E>(x[2], x[3]));
    else
      *reinterpret_cast<float4 *>(to) = make_float4(x[0], x[1], x[2], x[3]);
  }

  /// Multiplies the decays by alpha, and writes 1 past the end of the sequence and past Dk. Called after the copies of
  /// the decays have arrived.
  __device__ __forceinline__ void complete_gates(const ChunkOfHead &c, float *gates) const {
    if (!in.alpha && c.steps == chunk && in.Dk == Dk) return;
    for (int n = threadIdx.x; n < chunk * Dk; n += threads) {
      const int t = n / Dk, j = n % Dk;
      float &gate = gates[t * gate_pitch + j];
      if (t >= c.steps || j >= in.Dk)
        gate = 1;
      else if (in.alpha)
        gate *= in.alpha[c.row + t];
    }
    __syncthreads();
  }

  /// Computes the scores of steps in the warp's own sub-block. Each lane takes one step t, and every second pack of
  /// four channels.
  __device__ __forceinline__ void sum_own_pairs(const ChunkOfHead &c, const E *q, const E *k, const float *gates,
                                                float *scores) const {
    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * side, own = lane % side, t = first + own;
    const bool reads_first = channels.bonus;
    float sum[side] = {};
    for (int j = lane / side * 4; j < in.Dk; j += 8) {
      float p[4];
      load_four(q + t * pitch + j, p);
      if (reads_first && t < c.steps) { // the pair of the step with itself
        float x[4];
        load_four(k + t * pitch + j, x);
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (j + e < in.Dk) {
            const float added = p[e] * x[e] * channels.bonus[(c.row + t) * in.Dk + j + e];
#pragma unroll
            for (int i = 0; i < side; ++i)
              if (i == own) sum[i] += added;
          }
      }
#pragma unroll
      for (int i = side - 1; i >= 0; --i) {
        if (i < own || (i == own && !reads_first)) {
          float x[4], gate[4];
          load_four(k + (first + i) * pitch + j, x), load_four(gates + (first + i) * gate_pitch + j, gate);
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[i] = fmaf(p[e], x[e], sum[i]), p[e] *= gate[e];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < side; ++i) {
      sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], side);
      if (lane < side && i <= own) scores[t * score_pitch + first + i] = sum[i];
    }
  }

  /// Computes the scores of the pairs whose steps are in different sub-blocks a > b.
  __device__ __forceinline__ static void multiply_pairs(const E *q, const E *k, const float *between, int K,
                                                        float *scores) {
    const int warp = threadIdx.x / 32;
    const auto multiply = [&](int a, int b) {
      const float *const factor = a - b == 3 ? between + 2 * Dk : a - b == 2 ? between + b * Dk : nullptr;
      Sum x[2];
#pragma unroll
      for (int j = 0; j < Dk; j += 16) {
        if (j >= K) break;
        const A16<Op> of_q =
            factor ? load_a_scaled<Op, pitch>(q, side * a, j, factor) : fragments::load_a<Op, pitch>(q, side * a, j);
        fragments::multiply_add<Op>(of_q, fragments::load_b_across<Op, pitch>(k, j, side * b), x[0], x[1]);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) fragments::store<float, score_pitch>(x[n], scores, side * a, side * b + 8 * n);
    };
    if (warp < 3) multiply(warp + 1, warp);
    if (warp < 2) multiply(warp + 2, warp);
    if (warp == 3) multiply(3, 0);
  }
};

/// Runs the chunk-local phase: writes the saved arrays of `channels`.
template <class Op, class Stored>
void channel_local(const Inputs<Stored> &in, const Channels<Op> &channels, cudaStream_t stream) {
  with_extent(in.Dk, [&](auto extent) {
    using Body = ChannelLocal<Op, Stored, decltype(extent)::value>;
    launch("channel_local", in.chunks(), Body::bytes, stream, Body{in, channels});
  });
}

} // namespace recollect::chunked
#endif
