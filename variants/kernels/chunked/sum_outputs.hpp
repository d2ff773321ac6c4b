// SPDX-License-Identifier: Apache-2.0
// Decayed sums whose state stays on the chip: state passing and chunk output in one kernel (problem.hpp).
//
//   O^T = scale (S Q^T diag(D(t,0)) + V^T scores^T)      scores(t,i) = D(t,i) write_i (q_t . k_i) for i <= t
//   S <- D(C,0) S + V^T diag(D(C,i) write_i) K
//
// A thread block computes 64 values of a head or segment, chunk after chunk. Four warps, the workers, each keep 16 rows
// of S in registers, where S is the first operand of S Q^T. Meanwhile four warps, the scorers, compute the scores of
// the next chunk, and four warps, the loaders, copy later chunks. Between a segment's start and end, only q, k, v and o
// pass through device memory.
//
// This kernel is faster than separate stages if states are large and heads are many enough (keeps_states()).
#pragma once
#include "variants/kernels/chunked/scalar_fallback.hpp"
#include "variants/kernels/chunked/state_passing.hpp"
#ifdef __CUDACC__

namespace recollect::chunked {

namespace detail {
/// Transposes an 8 x 8 matrix of 16-bit numbers in the layout of a product's results.
__device__ __forceinline__ std::uint32_t transposed(std::uint32_t pair) {
  std::uint32_t result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
  return result;
}
} // namespace detail

template <class Op, int Dk> struct SumOutputs {
  using E = Element<Op>;
  static constexpr int workers = 4, scorers = chunk / 16, loaders = 4, threads = 32 * (workers + scorers + loaders);
  static constexpr int values = 16 * workers; // per block
  static constexpr int key_pitch = Dk + fragments::pad<Op>, value_pitch = values + fragments::pad<Op>,
                       score_pitch = chunk + fragments::pad<Op>;
  /// Number of chunks in shared memory: one is read, one scored, and one or two are being copied.
  static constexpr int stages = Dk <= 128 ? 4 : 3;
  static constexpr bool skips = Dk > 128; // skips fragments past the keys' width; for fewer keys, a branch costs more
  struct Stage {
    alignas(16) E q[chunk * key_pitch], k[chunk * key_pitch], v[chunk * value_pitch];
    float write[chunk];
  };
  struct alignas(16) Scored { // what the scorers compute for a chunk
    E scores[chunk * score_pitch];
    float left[chunk], step[chunk]; // D(t,0); D(C,t) write_t
    float total;                    // D(C,0)
  };
  struct Shared {
    Stage stage[stages];
    Scored scored[2];
    DecayTables decay[2];
    int redo;
  };

  Inputs<E> in;
  E *o;
  const float *start;
  float *end;                           // final states; null: not wanted
  std::size_t start_stride, end_stride; // distance between states of heads or segments
  Segments segments;

  __device__ __forceinline__ void operator()(Shared &shared) const {
    const int column_blocks = (in.kept_values() + values - 1) / values;
    const int nth = blockIdx.x / column_blocks, first_value = blockIdx.x % column_blocks * values;
    const int head = nth / segments.count;
    const HeadOfText h = segment_of(in.head_of_text(head / in.H, head % in.H), segments, nth % segments.count);
    const int chunks = (h.steps + chunk - 1) / chunk, warp = threadIdx.x / 32;
    const bool works = warp < workers, scores = !works && warp < workers + scorers, loads = !works && !scores;
    // A worker's first value: `own` counts within the block, `row` within the head.
    const int own = warp * 16, row = first_value + own;
    const bool at_work = works && row < in.kept_values();
    if (threadIdx.x == 0) shared.redo = 0;
    Sum S[Dk / 8];
    const auto each_of_state = [&](const auto &take) {
      const int lane = threadIdx.x % 32;
#pragma unroll
      for (int n = 0; n < Dk / 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int i = row + lane / 4 + e / 2 * 8, j = 8 * n + lane % 4 * 2 + e % 2;
          if (i < in.Dv && j < in.Dk) take(std::size_t(i) * in.Dk + j, S[n].x[e]);
        }
    };
    if (start && at_work) each_of_state([&](std::size_t at, float &x) { x = start[nth * start_stride + at]; });
    if (loads) {
      prepare_decay(h, 0, shared);
      for (int c = 0; c < stages - 2; ++c) load(h, c, chunks, first_value, shared);
    }
#pragma unroll 1
    for (int c = -1; c < chunks; ++c) {
      if (loads) fragments::wait_for_copies<stages - 3>();
      __syncthreads(); // chunk c is scored, chunk c + 1 and its decay tables have arrived, chunk c - 1 is finished
      if (loads) {
        load(h, c + stages - 1, chunks, first_value, shared);
        prepare_decay(h, c + 2, shared);
      } else if (scores) {
        if (c + 1 < chunks)
          score(shared.stage[(c + 1) % stages], shared.decay[(c + 1) % 2], shared.scored[(c + 1) % 2]);
      } else if (at_work && c >= 0) {
        const Stage &at = shared.stage[c % stages];
        const Scored &scored = shared.scored[c % 2];
        Sum x[blocks]; // 16 values x 64 steps
        if (!read(at, scored, own, S, x)) shared.redo = 1;
        put(x, o + (h.row + std::size_t(c) * chunk) * in.Dv + row, h.steps - c * chunk, in.Dv - row);
        advance(at, scored, own, S);
      }
    }
    __syncthreads(); // the block's outputs are written
    if (shared.redo) redo(h, first_value, nth);
    __syncthreads(); // redo() has read `start`, which may be the array `end`
    if (end && at_work) each_of_state([&](std::size_t at, float &x) { end[nth * end_stride + at] = x; });
  }

private:
  __device__ __forceinline__ bool decays() const { return in.alpha; }
  __device__ __forceinline__ bool scales() const { return in.alpha || in.write; }

  /// Called by the loaders: starts to copy chunk c, if it exists.
  __device__ __forceinline__ void load(const HeadOfText &h, int c, int chunks, int first_value, Shared &shared) const {
    constexpr int copiers = 32 * loaders;
    if (c < chunks) {
      Stage &to = shared.stage[c % stages];
      const int thread = threadIdx.x - 32 * (workers + scorers), steps = min(h.steps - c * chunk, chunk);
      const std::size_t row = h.row + std::size_t(c) * chunk, key_row = h.key_row + std::size_t(c) * chunk;
      fragments::load_tile<Op, chunk, Dk, key_pitch, copiers>(in.q + key_row * in.Dk, in.Dk, steps, in.Dk, to.q,
                                                              thread);
      fragments::load_tile<Op, chunk, Dk, key_pitch, copiers>(in.k + key_row * in.Dk, in.Dk, steps, in.Dk, to.k,
                                                              thread);
      fragments::load_tile<Op, chunk, values, value_pitch, copiers>(in.v + row * in.Dv + first_value, in.Dv, steps,
                                                                    in.Dv - first_value, to.v, thread);
      if (in.write && thread < chunk)
        copy_4(to.write + thread, in.write + row + (thread < steps ? thread : 0), thread < steps);
    }
    fragments::commit_copies();
  }
  /// Called by the loaders: computes the decay tables of chunk c.
  __device__ __forceinline__ void prepare_decay(const HeadOfText &h, int c, Shared &shared) const {
    if (decays())
      shared.decay[c % 2].prepare(in.alpha + h.row + std::size_t(c) * chunk, h.steps - c * chunk,
                                  threadIdx.x - 32 * (workers + scorers), 32 * loaders);
  }

  /// Called by the scorers: computes the scores and factors of a chunk.
  __device__ __forceinline__ void score(const Stage &at, const DecayTables &decay, Scored &to) const {
    const int thread = threadIdx.x - 32 * workers, first = thread / 32 * 16, lane = thread % 32;
    Sum scores[blocks]; // scores of all pairs: branches that skip masked pairs would cost more than the products
#pragma unroll
    for (int k = 0; k < Dk; k += 16) {
      if (skips && k >= in.Dk) break;
      const A16<Op> a = fragments::load_a<Op, key_pitch>(at.q, first, k);
#pragma unroll
      for (int i = 0; i < chunk; i += 16)
        fragments::multiply_add<Op>(a, fragments::load_b_across<Op, key_pitch>(at.k, k, i), scores[i / 8],
                                    scores[i / 8 + 1]);
    }
    if (scales() && thread < chunk) {
      to.left[thread] = decays() ? decay.from_start(thread) : 1;
      to.step[thread] = (decays() ? decay.to_end(thread) : 1) * (in.write ? at.write[thread] : 1);
      if (thread == 0) to.total = decays() ? decay.total() : 1;
    }
    float left[2];
    apply_decay(first, decays(), decay, scores, left);
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      if (8 * b >= first + 16) break;
      if (in.write) {
        const float2 factor = load_pair(at.write + 8 * b + lane % 4 * 2);
#pragma unroll
        for (int r = 0; r < 2; ++r) scores[b].x[2 * r] *= factor.x, scores[b].x[2 * r + 1] *= factor.y;
      }
      fragments::store<E, score_pitch>(scores[b], to.scores, first, 8 * b);
    }
  }

  /// Computes the outputs x of a chunk from S at the chunk's start. Returns whether all are finite.
  __device__ __forceinline__ bool read(const Stage &at, const Scored &scored, int own, const Sum (&S)[Dk / 8],
                                       Sum (&x)[blocks]) const {
#pragma unroll
    for (int k = 0; k < Dk; k += 16) {
      if (skips && k >= in.Dk) break;
      const A16<Op> a = fragments::as_a<Op>(S[k / 8], S[k / 8 + 1]);
#pragma unroll
      for (int t = 0; t < chunk; t += 16)
        fragments::multiply_add<Op>(a, fragments::load_b_across<Op, key_pitch>(at.q, k, t), x[t / 8], x[t / 8 + 1]);
    }
    if (decays()) scale_columns(x, scored.left);
#pragma unroll
    for (int i = 0; i < chunk; i += 16) {
      const A16<Op> a = fragments::load_a_across<Op, value_pitch>(at.v, own, i);
#pragma unroll
      for (int t = i; t < chunk; t += 16)
        fragments::multiply_add<Op>(a, fragments::load_b_across<Op, score_pitch>(scored.scores, i, t), x[t / 8],
                                    x[t / 8 + 1]);
    }
    const bool finite = all_finite(x);
    scale(x, in.scale);
    return finite;
  }
  /// Transposes the outputs x, and writes them to rows of `to`.
  __device__ __forceinline__ void put(const Sum (&x)[blocks], E *to, int steps, int columns) const {
    const int lane = threadIdx.x % 32, quad = lane % 4;
#pragma unroll
    for (int b = 0; b < blocks; b += 2) {
      std::uint32_t pair[4]; // values 0 ... 7 and 8 ... 15 of steps 0 ... 7; then the same values of steps 8 ... 15
#pragma unroll
      for (int n = 0; n < 4; ++n)
        pair[n] = detail::transposed(fragments::packed<E>(x[b + n / 2].x[n % 2 * 2], x[b + n / 2].x[n % 2 * 2 + 1]));
      const uint4 eight = detail::block_of_quad(pair);
      const int t = 8 * (b + quad / 2) + lane / 4, j = quad % 2 * 8;
      if (t < steps && j < columns) *reinterpret_cast<uint4 *>(to + std::size_t(t) * in.Dv + j) = eight;
    }
  }
  /// Advances S from a chunk's start to its end.
  __device__ __forceinline__ void advance(const Stage &at, const Scored &scored, int own, Sum (&S)[Dk / 8]) const {
    if (decays()) scale(S, scored.total);
#pragma unroll
    for (int i = 0; i < chunk; i += 16) {
      const A16<Op> a = scales() ? load_a_across_scaled<Op, value_pitch>(at.v, own, i, scored.step)
                                 : fragments::load_a_across<Op, value_pitch>(at.v, own, i);
#pragma unroll
      for (int k = 0; k < Dk; k += 16) {
        if (skips && k >= in.Dk) break;
        fragments::multiply_add<Op>(a, fragments::load_b<Op, key_pitch>(at.k, i, k), S[k / 8], S[k / 8 + 1]);
      }
    }
  }

  /// Computes all outputs of the block again, step by step, so that an Inf or NaN never reaches an earlier step.
  __device__ __noinline__ void redo(HeadOfText h, int first_value, int nth) const {
    constexpr int own = Dk / 32; // keys per lane
    const int lane = threadIdx.x % 32, last_value = min(first_value + values, in.Dv);
    for (int i = first_value + threadIdx.x / 32; i < last_value; i += threads / 32) {
      float S[own];
#pragma unroll
      for (int n = 0; n < own; ++n) {
        const int j = lane + 32 * n;
        S[n] = start && j < in.Dk ? start[nth * start_stride + std::size_t(i) * in.Dk + j] : 0;
      }
      for (int t = 0; t < h.steps; ++t) {
        const E *const q = in.q + (h.key_row + t) * in.Dk, *const k = in.k + (h.key_row + t) * in.Dk;
        const float decay = in.alpha ? in.alpha[h.row + t] : 1, write = in.write ? in.write[h.row + t] : 1,
                    value = write * widened(in.v[(h.row + t) * in.Dv + i]);
        float sum = 0;
#pragma unroll
        for (int n = 0; n < own; ++n)
          if (const int j = lane + 32 * n; j < in.Dk) {
            S[n] = decay * S[n] + value * widened(k[j]);
            sum += S[n] * widened(q[j]);
          }
        sum = warp_sum(sum);
        if (lane == 0) o[(h.row + t) * in.Dv + i] = rounded<E>(in.scale * sum);
      }
    }
  }
};

template <class Op, int Dk>
__global__ void __launch_bounds__(SumOutputs<Op, Dk>::threads, 1)
    sum_outputs_kernel(const __grid_constant__ SumOutputs<Op, Dk> body) {
  extern __shared__ __align__(128) unsigned char shared[];
  body(*reinterpret_cast<typename SumOutputs<Op, Dk>::Shared *>(shared));
}

/// Whether sum_outputs() runs the call. There must be enough blocks of 64 values to occupy the multiprocessors. Blocks
/// of 32 values are not used, because each would compute the same scores again. Between 128 and 192 keys, the separate
/// stages would also save padded states.
template <class Op, class Stored> bool keeps_states(const Inputs<Stored> &in, const Segments &segments) {
  return is_narrow<Op> && std::is_same<Stored, Element<Op>>::value && in.Dk < 192 &&
         (segments.count > 1 || values_of_block(in) == 64);
}
/// Writes the outputs of a decayed sum and, unless `end` is null, its final states. `end` may be in.start.
template <class Op>
void sum_outputs(const Inputs<Element<Op>> &in, Element<Op> *o, float *end, cudaStream_t stream, Segments segments) {
  const std::size_t heads = std::size_t(in.texts()) * in.H;
  const float *start = in.start;
  std::size_t apart = in.state_stride;
  if (segments.count > 1) {
    Element<Op> *const none = nullptr;
    pass_states<Op, false>(in, none, none, none, none, end, stream, segments); // the states at the segments' starts
    start = segments.states, end = nullptr, apart = std::size_t(in.Dv) * in.Dk;
  }
  with_extent(in.Dk, [&](auto extent) {
    constexpr int Dk = decltype(extent)::value;
    if constexpr (Dk <= 192) {
      using Body = SumOutputs<Op, Dk>;
      const std::size_t column_blocks = (in.kept_values() + Body::values - 1) / Body::values;
      launch("sum_outputs", sum_outputs_kernel<Op, Dk>, heads * segments.count * column_blocks, Body::threads,
             sizeof(typename Body::Shared), stream, Body{in, o, start, end, apart, apart, segments});
    }
  });
}

} // namespace recollect::chunked
#endif
