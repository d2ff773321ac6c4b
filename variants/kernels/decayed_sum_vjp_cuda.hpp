// SPDX-License-Identifier: Apache-2.0
// decayed_sum_vjp.hpp's phases on CUDA where heads are 64 wide, chunks 64 steps long and nothing decays. The three gradients
// are reads of one kind: of a state, and of pairs with what comes before a step (dq), or after it (dk, dv).
#pragma once
#include "variants/kernels/decayed_sum_cuda.hpp"
#include "variants/kernels/decayed_sum_vjp.hpp"
#ifdef __CUDACC__

namespace recollect::variants {

/// The states at the chunks' starts.
struct StartsInWarps : DecayedSumInWarps {
  static constexpr bool keeps_start = true;
  Starts<float> starts;
  struct Reading {};
  KOKKOS_FUNCTION Reading reading(Stack<float> &) const { return {}; }
  RECOLLECT_IN_LINE void read(const Team &team, const Chunk &c, const Summary &, const float *before,
                              const Reading &) const {
    starts.keep(team, c, before);
  }
  const Starts<float> &left() const { return starts; }
  bool reads_nothing() const { return true; }
};

/// The adjoint: `state` is that of the gradient, o's place has do.
struct DecayedSumBackInWarps : DecayedSumInWarps {
  static constexpr int kinds = 1; // nothing decays
  Array<float> d_q, d_k, d_v;
  Starts<float> starts;

  static bool suits(const Call<float> &call, const DecayedSum<float> &in) {
    return DecayedSumInWarps::suits(call, in) && !in.alpha.extent(0) && !in.strength.extent(0) && !in.normalised;
  }

  struct Reading {
    float *first, *second, *state; // [size,size], rows `pitch` apart
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    const auto room = [&] { return s.take(size * pitch); };
    Reading x;
    x.first = room(), x.second = room(), x.state = room();
    return x;
  }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    const size_t step = c.head * T + c.first;
    fetch<pitch>(team, in.q.data() + step * size, x.k);
    fetch<pitch>(team, o.data() + step * size, x.v);
    team.barrier();
    const Lane at(team);
    Results sum[blocks];
    float z[2] = {};
    add_up<tile::cuda::UnitOf<math>, pitch>(at, step, x.k, x.v, x.decay, sum, z);
    const float scale = in.scale;
    put(at, sum, out.added, [=](int, float x) { return scale * x; });
#else
    too_old(team, c, out, x);
#endif
  }

  /// `after` is dS_C: what comes after the chunk has left it.
  template <Math math>
  RECOLLECT_IN_LINE void read(const Precise<math> &team, const Chunk &c, const Summary &, const float *after,
                              const Reading &x) const {
#if __CUDA_ARCH__ >= 800
    using Unit = tile::cuda::UnitOf<math>;
    const size_t step = (c.head * T + c.first) * size;
    const float *const S = starts.of(c), *const q = in.q.data() + step, *const k = in.k.data() + step,
                       *const values = v.data() + step, *const d_o = o.data() + step, scale = in.scale;
    const Lane at(team);
    fetch<pitch>(team, values, x.first), fetch<pitch>(team, k, x.second), fetch<pitch>(team, S, x.state);
    team.barrier();
    // dq_t = scale (sum_{i<=t} (do_t . v_i) k_i + S_0 do_t)
    one<Unit, false, true>(at, {d_o, values, k, S, 1, scale}, x.first, x.second, x.state, d_q.data() + step);
    team.meet(); // all have read
    fetch<pitch>(team, q, x.first), fetch<pitch>(team, d_o, x.second), fetch<pitch>(team, after, x.state);
    team.barrier();
    // dv_i = scale sum_{t>=i} (k_i . q_t) do_t + dS_C^T k_i,  dk_i = scale sum_{t>=i} (v_i . do_t) q_t + dS_C v_i
    one<Unit, true, false>(at, {k, q, d_o, after, scale, 1}, x.first, x.second, x.state, d_v.data() + step);
    one<Unit, true, true>(at, {values, d_o, q, after, scale, 1}, x.second, x.first, x.state, d_k.data() + step);
#else
    too_old(team, c, after, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  /// A read, as it lies in device memory: out_t = whole (pairs sum of (rows_t . met_i) read_i + S rows_t), over i <= t, or
  /// `later`, i >= t; S transposed where its rows do not lie `along` the sum.
  struct Of {
    const float *rows, *met, *read, *S;
    float pairs, whole;
  };
  /// met, read and S in shared memory.
  template <class Unit, bool later, bool along>
  __device__ __forceinline__ static void one(const Lane &at, const Of &of, const float *met, const float *read,
                                             const float *S, float *out) {
    constexpr int groups = Unit::groups, half = blocks / 2;
    Queries<groups> rows(of.rows + at.row() * size + at.place);
    Results early[half], late[half], sum[blocks];
    met += at.inner() * pitch + at.place;
    S += along ? 2 * at.inner() * pitch + at.place : at.place * pitch + 2 * at.inner();
    const bool first = !later || at.first < size / 2, second = later || at.first >= size / 2;
#pragma unroll 1
    for (int b = 0; b < blocks; b += groups, met += groups * block, S += groups * (along ? block : block * pitch)) {
      Group<blocks> state[groups];
      Group<half> pairs[groups];
      rows.put(state), rows.put(pairs);
      if (b + groups < blocks) rows.fetch();
      if (first) {
        load_rows_of(met, pairs);
        Unit::add(pairs, early);
      }
      if (second) {
        load_rows_of(met + size / 2 * pitch, pairs);
        Unit::add(pairs, late);
      }
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        if constexpr (along)
          load_along(S + g * block, state[g]);
        else
          tile::cuda::load_rows(S + g * block * pitch, pitch, state[g]);
      }
      Unit::add(state, sum);
    }
    Results p[blocks];
#pragma unroll
    for (int c = 0; c < half; ++c) p[c] = early[c], p[half + c] = late[c];
    mask<later>(at, of.pairs, p);
    if constexpr (later)
      read_later<Unit>(at, read, p, sum);
    else
      read_own<Unit, pitch>(at, read, p, sum);
    if (!finite(sum)) return pair_by_pair<later, along>(at.first, of, out);
    put(at, sum, out, [&](int, float x) { return of.whole * x; });
  }
  /// As load_keys, rows `pitch` apart.
  template <int N, int groups>
  __device__ __forceinline__ static void load_rows_of(const float *from, Group<N> (&group)[groups]) {
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int c = 0; c < N; ++c) {
        const float2 both = *reinterpret_cast<const float2 *>(from + c * block * pitch + g * block);
        group[g].b[c][0] = both.x, group[g].b[c][1] = both.y;
      }
  }
  /// Columns that lie in rows, in load_rows's order: every second of sixteen.
  template <int N> __device__ __forceinline__ static void load_along(const float *from, Group<N> &group) {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const float2 both = *reinterpret_cast<const float2 *>(from + (c / 2 * 16 + c % 2) * pitch);
      group.b[c][0] = both.x, group.b[c][1] = both.y;
    }
  }
  /// p(t,i) times factor, and 0 where i is not to be met.
  template <bool later>
  __device__ __forceinline__ static void mask(const Lane &at, float factor, Results (&p)[blocks]) {
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int t = at.row() + e / 2 * 8, i = b * block + at.place + e % 2;
        p[b].x[e] = (later ? i >= t : i <= t) ? factor * p[b].x[e] : 0;
      }
  }
  /// As read_own, over i >= t.
  template <class Unit>
  __device__ __forceinline__ static void read_later(const Lane &at, const float *from, const Results (&p)[blocks],
                                                    Results (&sum)[blocks]) {
    constexpr int groups = Unit::groups;
    from += at.place * pitch + 2 * at.inner();
#pragma unroll
    for (int b = 0; b < blocks; b += groups) {
      if ((b + groups) * block <= at.first) continue;
      Group<blocks> group[groups];
#pragma unroll
      for (int g = 0; g < groups; ++g) {
#pragma unroll
        for (int e = 0; e < 2; ++e)
#pragma unroll
          for (int r = 0; r < 2; ++r) group[g].a[r][e] = p[b + g].x[2 * r + e];
        tile::cuda::load_rows(from + (b + g) * block * pitch, pitch, group[g]);
      }
      Unit::add(group, sum);
    }
  }
  /// The same from device memory, which numbers that are not finite and not to be met do not reach.
  template <bool later, bool along> __device__ __noinline__ static void pair_by_pair(int first, Of of, float *out) {
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      const float *const row = of.rows + t * size;
      float sum[2] = {};
      for (int i = later ? t : 0; i < (later ? size : t + 1); ++i) {
        const float weight = of.pairs * row_dot(row, of.met + i * size, size, lane, 32);
        for (int h = 0; h < 2; ++h) sum[h] += weight * of.read[i * size + lane + 32 * h];
      }
      for (int j = 0; j < size; ++j)
        for (int h = 0; h < 2; ++h) {
          const int column = lane + 32 * h;
          sum[h] += row[j] * of.S[along ? column * size + j : j * size + column];
        }
      for (int h = 0; h < 2; ++h) out[t * size + lane + 32 * h] = of.whole * sum[h];
    }
  }
#endif
};

} // namespace recollect::variants
#endif
