// SPDX-License-Identifier: Apache-2.0
// decayed_sum_vjp.hpp's phases on CUDA where heads are 64 wide, chunks 64 steps long, and one number a step decays, or
// nothing.
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

/// The adjoint: `state` is that of the gradient, o's place has do. Writes have strengths only where something decays.
template <bool decaying> struct DecayedSumBackInWarps : DecayedSumInWarps {
  using Pairs = PairsInWarps;
  static constexpr int kinds = 1, reading_teams = decaying ? 3 : 4;
  DecayedSumGradient<float> d;
  Array<float> d_v;
  Starts<float> starts;

  static bool suits(const Call<float> &call, const DecayedSum<float> &in) {
    return DecayedSumInWarps::suits(call, in) && !in.normalised && (in.alpha.extent(0) > 0) == decaying &&
           (decaying || !in.strength.extent(0));
  }
  KOKKOS_FUNCTION int kind() const { return 0; }
  KOKKOS_FUNCTION void set_sizes(int width, int) { DecayedSumInWarps::set_sizes(width, decaying); }

  struct Reading {
    float *first, *second, *state;
    Decay decay;
    float *G; // for the gates' gradients
  };
  KOKKOS_FUNCTION bool gates() const { return decaying && d.alpha.extent(0); }
  KOKKOS_FUNCTION Reading reading(Stack<float> &s) const {
    return {Pairs::room(s), Pairs::room(s), Pairs::room(s), place_decay(s, decaying),
            gates() ? Pairs::room(s) : nullptr};
  }

  template <Math math>
  RECOLLECT_IN_LINE void summarise(const Precise<math> &team, const Chunk &c, const Summary &out,
                                   const Summarising &x) const {
#if __CUDA_ARCH__ >= 800
    const float scale = in.scale;
    sum_up<tile::cuda::UnitOf<math>, true>(team, c, in.q, o, out, x, [=](int, float x) { return scale * x; });
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
    const size_t first = c.head * T + c.first, step = first * size;
    const float *const S = starts.of(c), *const q = in.q.data() + step, *const k = in.k.data() + step,
                       *const values = v.data() + step, *const d_o = o.data() + step,
                       *const alpha = decaying ? in.alpha.data() + first : nullptr,
                       *const strength = decaying && in.strength.extent(0) ? in.strength.data() + first : nullptr;
    float *const d_strength = decaying && d.strength.extent(0) ? d.strength.data() + first : nullptr;
    const float scale = in.scale;
    const Lane at(team);
    const auto counts = [=](int i) { return strength ? strength[i] : 1; };
    const auto scales = [=](int) { return scale; };
    const auto strengthened = [&](Results(&p)[blocks]) {
      if (strength) strengthen(at, first, p);
    };
    const auto scaled = [=](Results(&p)[blocks]) {
#pragma unroll
      for (Results &each : p)
#pragma unroll
        for (float &x : each.x) x *= scale;
    };
    fetch<pitch>(team, values, x.first), fetch<pitch>(team, k, x.second), fetch<pitch>(team, S, x.state);
    if (decaying) prepare(team, alpha, x.decay);
    team.barrier();
    { // dq_t = scale (sum_{i<=t} D(t,i) strength_i (do_t . v_i) k_i + D(t,0) S_0 do_t)
      Results sum[blocks];
      const auto look = [&](const Results(&p)[blocks]) {
        if (gates()) Pairs::leave_reads<Unit>(at, q, x.second, scale, strength, p, sum, x.G);
      };
      Pairs::add_pairs<Unit, Seen::until, true, decaying>(at, {d_o}, {x.first, x.second, x.state}, x.decay, sum, look,
                                                          strengthened);
      if (finite(sum))
        put(at, sum, d.q.data() + step, [=](int, float x) { return scale * x; });
      else
        slowly<Seen::until, true>(at.first, {{d_o}, {values}, {k}, S, alpha}, counts, scales, d.q.data() + step);
    }
    team.meet(); // all have read
    fetch<pitch>(team, q, x.first), fetch<pitch>(team, d_o, x.second), fetch<pitch>(team, after, x.state);
    team.barrier();
    const auto own = [=](int r, float x) { return counts(at.row() + 8 * r) * x; };
    { // dv_i = strength_i (scale sum_{t>=i} D(t,i) (k_i . q_t) do_t + D(C,i) dS_C^T k_i)
      Results sum[blocks];
      Pairs::add_pairs<Unit, Seen::from, false, decaying>(at, {k}, {x.first, x.second, x.state}, x.decay, sum,
                                                          [](const Results(&)[blocks]){}, scaled);
      if (finite(sum))
        put(at, sum, d_v.data() + step, own);
      else
        slowly<Seen::from, false>(at.first, {{k}, {q}, {d_o}, after, alpha}, scales, counts, d_v.data() + step);
    }
    { // dk_i = strength_i (scale sum_{t>=i} D(t,i) (v_i . do_t) q_t + D(C,i) dS_C v_i); strength_i's is along k_i, without it
      Results sum[blocks];
      const auto look = [&](const Results(&)[blocks]) {
        if (gates()) Pairs::leave_writes(at, k, strength, sum, x.G);
      };
      Pairs::add_pairs<Unit, Seen::from, true, decaying>(at, {values}, {x.second, x.first, x.state}, x.decay, sum, look,
                                                         scaled);
      float along[2];
      if (d_strength) dot_rows(at, k, size, sum, along);
      if (finite(sum)) {
        put(at, sum, d.k.data() + step, own);
        if (d_strength && at.place == 0)
          for (int r = 0; r < 2; ++r) d_strength[at.row() + 8 * r] = along[r];
      } else {
        slowly<Seen::from, true>(at.first, {{values}, {d_o}, {q}, after, alpha}, scales, counts, d.k.data() + step, k,
                                 d_strength);
      }
    }
    if (gates()) Pairs::finish_gates(team, S, after, alpha, x.G, d.alpha.data() + first);
#else
    too_old(team, c, after, x);
#endif
  }

#if __CUDA_ARCH__ >= 800
private:
  /// out_t = whole(t) times what pairs that count factor(i) and the state give, and what that is along k_t.
  template <Seen seen, bool along, class Factor, class Whole>
  __device__ __noinline__ static void slowly(int first, Pairs::InMemory given, Factor factor, Whole whole, float *out,
                                             const float *k = nullptr, float *dots = nullptr) {
    const int lane = threadIdx.x % 32;
    for (int t = first; t < first + height; ++t) {
      float sum[2] = {};
      Pairs::add_pairs<seen, along>(t, given, factor, sum);
      if (dots) {
        const float dot = across_row(k[t * size + lane] * sum[0] + k[t * size + lane + 32] * sum[1],
                                     [](float a, float b) { return a + b; });
        if (lane == 0) dots[t] = dot;
      }
      for (int h = 0; h < 2; ++h) out[t * size + lane + 32 * h] = whole(t) * sum[h];
    }
  }
#endif
};

} // namespace recollect::variants
#endif
