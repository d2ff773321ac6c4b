// SPDX-License-Identifier: Apache-2.0
// gated_recurrence.hpp's sum for a short sequence without decays and without a given state (Call::stateless). A team
// computes all pairs of steps of a head, and needs no state. The engine, in contrast, would pass one state from chunk
// to chunk, and two states in the backward pass.
//
//   A_ti = scale q_t . k_i for i <= t,   w_t = sum_i A_ti if normalised, else 1,   p_ti = A_ti / w_t
//   o_t = sum_i p_ti v_i
//   dp_ti = do_t . v_i,   dA_ti = (dp_ti - sum_j p_tj dp_tj) / w_t if normalised, else dp_ti
//   dq_t = scale sum_i dA_ti k_i,   dk_i = scale sum_t dA_ti q_t,   dv_i = sum_t p_ti do_t
#pragma once
#include "harness/device/tile/transposed.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"

namespace recollect::variants {

/// What the forward and the backward pass share.
template <class Number> struct WholePairs {
  using Real = Number;
  GatedRecurrence<Real> in;
  int T, V; // steps, width of v and o
  Array<Real> v;

  KOKKOS_FUNCTION std::ptrdiff_t ld() const { return tile::pitch<Real>(T); }
  KOKKOS_FUNCTION Real *pairs(Stack<Real> &s) const { return s.take(T * ld()); }

  struct Buffers {
    Real *q, *k, *v;
  };
  KOKKOS_FUNCTION Buffers buffers(Stack<Real> &s) const {
    return {tile::buffer(s, T, in.width), tile::buffer(s, T, in.width), tile::buffer(s, T, V)};
  }
  struct Operands {
    tile::Matrix<Real> q, k, v;
  };
  RECOLLECT_IN_LINE Operands stage(const Team &team, size_t head, const Buffers &x) const {
    const int F = in.width;
    const size_t step = head * T;
    return {tile::stage(team, T, F, in.q.data() + step * F, F, x.q),
            tile::stage(team, T, F, in.k.data() + step * F, F, x.k),
            tile::stage(team, T, V, v.data() + step * V, V, x.v)};
  }
};

/// Computes the outputs. Each work unit of the launch takes one head.
template <class Number> struct WholeSum : WholePairs<Number> {
  using Real = Number;
  using WholePairs<Real>::in, WholePairs<Real>::T, WholePairs<Real>::V, WholePairs<Real>::ld;
  Array<Real> o;

  size_t scratch() const {
    Stack<Real> s;
    this->pairs(s), this->buffers(s);
    return s.used;
  }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Real *memory) const {
    Stack<Real> stack{memory};
    Real *const p = this->pairs(stack);
    const auto x = this->stage(team, head, this->buffers(stack));
    const std::ptrdiff_t ld = this->ld();
    team.barrier();
    tile::gemm_to_lower(team, T, in.width, in.scale, x.q, x.k, p, ld);
    team.barrier();
    const bool normalised = in.normalised;
    const int n = T;
    each_row(team, n, [=](int t, int first, int side) {
      Real *const row = p + t * ld;
      for (int i = t + 1 + first; i < n; i += side) row[i] = 0;
      if (!normalised) return;
      Real weight = 0;
      for (int i = first; i <= t; i += side) weight += row[i];
      weight = across_row(weight, [](Real a, Real b) { return a + b; });
      for (int i = first; i <= t; i += side) row[i] = weighted_mean(row[i], weight);
    });
    team.barrier();
    tile::gemm_lower<Real>(team, T, V, Real(1), p, ld, x.v, Real(0), o.data() + head * T * V, V);
  }
};

/// Computes dq, dk and dv. Each work unit of the launch takes one head.
template <class Number> struct WholeSumGradient : WholePairs<Number> {
  using Real = Number;
  using WholePairs<Real>::in, WholePairs<Real>::T, WholePairs<Real>::V, WholePairs<Real>::ld;
  Array<Real> d_o, dq, dk, dv;

  size_t scratch() const {
    Stack<Real> s;
    this->pairs(s), this->pairs(s), this->buffers(s), tile::buffer(s, T, V);
    return s.used;
  }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Real *memory) const {
    const int F = in.width;
    const size_t keys = head * T * F, values = head * T * V;
    Stack<Real> stack{memory};
    Real *const p = this->pairs(stack), *const dA = this->pairs(stack);
    const auto x = this->stage(team, head, this->buffers(stack));
    const auto asked = tile::stage(team, T, V, d_o.data() + values, V, tile::buffer(stack, T, V));
    const std::ptrdiff_t ld = this->ld();
    team.barrier();
    tile::gemm_to_lower(team, T, F, in.scale, x.q, x.k, p, ld);
    tile::gemm_to_lower(team, T, V, Real(1), asked, x.v, dA, ld);
    team.barrier();
    weigh(team, p, dA, ld);
    team.barrier();
    tile::gemm_lower<Real>(team, T, F, in.scale, dA, ld, x.k, Real(0), dq.data() + keys, F);
    tile::gemm_lower_transposed(team, T, F, in.scale, dA, ld, x.q, Real(0), dk.data() + keys, F);
    tile::gemm_lower_transposed(team, T, V, Real(1), p, ld, asked, Real(0), dv.data() + values, V);
  }

private:
  /// Replaces A and dp by p and dA; masked pairs become 0.
  RECOLLECT_IN_LINE void weigh(const Team &team, Real *all_p, Real *all_dA, std::ptrdiff_t ld) const {
    const bool normalised = in.normalised;
    const int n = T;
    each_row(team, n, [=](int t, int first, int side) {
      Real *const p = all_p + t * ld, *const dA = all_dA + t * ld;
      for (int i = t + 1 + first; i < n; i += side) p[i] = dA[i] = 0;
      if (!normalised) return;
      const auto plus = [](Real a, Real b) { return a + b; };
      Real weight = 0, along = 0;
      for (int i = first; i <= t; i += side) weight += p[i], along += p[i] * dA[i];
      weight = across_row(weight, plus), along = weighted_mean(across_row(along, plus), weight);
      for (int i = first; i <= t; i += side)
        p[i] = weighted_mean(p[i], weight), dA[i] = weighted_mean(dA[i] - along, weight);
    });
  }
};

/// Runs `whole`, a WholeSum or WholeSumGradient. Returns false if the call has a state, decays, strengths, a floor, or
/// sequences that are too long.
template <class Whole, class Real>
bool run_whole(const std::string &label, const Call<Real> &call, const GatedRecurrence<Real> &in, const Whole &whole) {
  if (!call.stateless || in.alpha.extent(0) || in.lambda.extent(0) || in.strength.extent(0) || in.floor.extent(0))
    return false;
  const size_t scratch = whole.scratch();
#ifdef KOKKOS_ENABLE_CUDA
  const bool fits = on_cuda ? launching::fit_together<Real>(2, scratch) : whole.T <= 128;
#else
  const bool fits = whole.T <= 128; // for longer sequences, all pairs cost more than a state
#endif
  if (fits) run<Real>({label + "::whole", call.shape.heads(), 256, call.math}, *call.arena, scratch, whole);
  return fits;
}

} // namespace recollect::variants
