// SPDX-License-Identifier: Apache-2.0
// decayed_sum_vjp.hpp's phases on CUDA where heads are 64 wide, chunks 64 steps long and nothing decays.
#pragma once
#include "variants/kernels/decayed_sum_cuda.hpp"
#include "variants/kernels/decayed_sum_vjp.hpp"
#include "variants/kernels/pairs_in_warps.hpp"
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
  using Pairs = PairsInWarps;
  static constexpr int kinds = 1; // nothing decays
  Array<float> d_q, d_k, d_v;
  Starts<float> starts;

  static bool suits(const Call<float> &call, const DecayedSum<float> &in) {
    return DecayedSumInWarps::suits(call, in) && !in.alpha.extent(0) && !in.strength.extent(0) && !in.normalised;
  }

  struct Reading {
    float *first, *second, *state;
  };
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const { return {Pairs::room(s), Pairs::room(s), Pairs::room(s)}; }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    const float scale = in.scale;
    sum_up<tile::cuda::UnitOf<math>>(team, c, in.q, o, out, x, [=](int, float x) { return scale * x; });
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
    fetch<Pairs::pitch>(team, values, x.first), fetch<Pairs::pitch>(team, k, x.second);
    fetch<Pairs::pitch>(team, S, x.state);
    team.barrier();
    // dq_t = scale (sum_{i<=t} (do_t . v_i) k_i + S_0 do_t)
    one<Unit, Seen::until, true>(at, {{d_o}, {values}, {k}, S}, {x.first, x.second, x.state}, 1, scale,
                                 d_q.data() + step);
    team.meet(); // all have read
    fetch<Pairs::pitch>(team, q, x.first), fetch<Pairs::pitch>(team, d_o, x.second);
    fetch<Pairs::pitch>(team, after, x.state);
    team.barrier();
    // dv_i = scale sum_{t>=i} (k_i . q_t) do_t + dS_C^T k_i,  dk_i = scale sum_{t>=i} (v_i . do_t) q_t + dS_C v_i
    one<Unit, Seen::from, false>(at, {{k}, {q}, {d_o}, after}, {x.first, x.second, x.state}, scale, 1,
                                 d_v.data() + step);
    one<Unit, Seen::from, true>(at, {{values}, {d_o}, {q}, after}, {x.second, x.first, x.state}, scale, 1,
                                d_k.data() + step);
#else
    too_old(team, c, after, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  /// out = whole times what add_pairs gives, of pairs that count `each`.
  template <class Unit, Seen seen, bool along>
  __device__ __forceinline__ static void one(const Lane &at, const Pairs::InMemory &given, const Pairs::Tiles &x,
                                             float each, float whole, float *out) {
    Results sum[blocks];
    Pairs::add_pairs<Unit, seen, along>(
        at, given.rows, x, [=](int) { return each; }, sum);
    if (!finite(sum)) return slowly<seen, along>(at.first, given, each, whole, out);
    put(at, sum, out, [=](int, float x) { return whole * x; });
  }
  template <Seen seen, bool along>
  __device__ __noinline__ static void slowly(int first, Pairs::InMemory given, float each, float whole, float *out) {
    for (int t = first; t < first + height; ++t) {
      float sum[2] = {};
      Pairs::add_pairs<seen, along>(
          t, given, [=](int) { return each; }, sum);
      for (int h = 0; h < 2; ++h) out[t * size + threadIdx.x % 32 + 32 * h] = whole * sum[h];
    }
  }
#endif
};

} // namespace recollect::variants
#endif
