// SPDX-License-Identifier: Apache-2.0
// Several delta steps (sub-steps) per token. All sub-steps use the token's value and step size; only the first applies
// the token's decay. The key of the last sub-step is the token's k; in the sub-steps before it, w and k alternate.
//
// The backward pass, and on a GPU the forward pass too, treats every sub-step as a step of a longer sequence. A token's
// output is the output of its last sub-step.
#pragma once
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/decay_first.hpp"

namespace recollect::variants {

template <class Real> KOKKOS_FUNCTION const Real *key_of_step(const Head<Real> &h, int t, int j, int steps) {
  return (steps - 1 - j) % 2 == 0 ? h.k(t) : h.w(t);
}

/// Copies rows of x to all sub-steps. Either every sub-step gets the token's row, or one sub-step gets it and all
/// others get `elsewhere`.
template <class Real> struct Repeat {
  int steps, width, at; // at: the sub-step that gets the row; -1: each
  Real elsewhere;
  Array<Real> x, out;
  KOKKOS_FUNCTION void operator()(int s, int first, int side) const {
    const bool wanted = at < 0 || s % steps == at;
    for (int c = first; c < width; c += side)
      out(size_t(s) * width + c) = wanted ? x(size_t(s / steps) * width + c) : elsewhere;
  }
};
template <class Real>
Array<Real> repeated(const Call<Real> &call, int steps, const Array<Real> &x, int width, int at = -1,
                     Real elsewhere = 0) {
  const size_t n = call.steps() * steps;
  const Array<Real> out = allocate(call, n * width);
  each_row("sub_steps::repeat", int(n), width, Repeat<Real>{steps, width, at, elsewhere, x, out});
  return out;
}

/// Returns the rule over all sub-steps: keys [B,H,T * steps,Dk], step sizes and decays [B,H,T * steps].
template <class Real> DecayFirst<Real> sub_steps(const Call<Real> &call, int steps) {
  const int Dk = call.shape.Dk;
  const Array<Real> keys = allocate(call, call.steps() * steps * Dk), beta = allocate(call, call.steps() * steps);
  const HeadArrays<Real> arrays(call);
  each_row(
      "sub_steps", int(call.steps() * steps), Dk, KOKKOS_LAMBDA(int s, int first, int side) {
        const int token = s / steps, t = token % arrays.T;
        const Head<Real> h = arrays.head(token / arrays.T);
        const Real *x = key_of_step(h, t, s % steps, steps);
        for (int c = first; c < Dk; c += side) keys(size_t(s) * Dk + c) = x[c];
        if (first == 0) beta(s) = h.beta[t];
      });
  const bool decays = call.alpha.extent(0);
  return {keys, keys, beta, decays ? repeated(call, steps, call.alpha, 1, 0, Real(1)) : Array<Real>()};
}

/// Returns the call in which every sub-step is a step.
template <class Real> Call<Real> in_single_steps(const Call<Real> &call, int steps) {
  Call<Real> fine = call;
  const DecayFirst<Real> all = sub_steps(call, steps);
  fine.shape.T = call.shape.T * steps, fine.k = all.p, fine.beta = all.beta, fine.alpha = all.alpha;
  fine.q = repeated(call, steps, call.q, call.shape.Dk), fine.v = repeated(call, steps, call.v, call.shape.Dv);
  fine.o = allocate(call, call.steps() * steps * call.shape.Dv);
  return fine;
}
/// Copies the outputs of the tokens' last sub-steps from `fine` to call.o.
template <class Real> void read_last_steps(const Call<Real> &call, const Call<Real> &fine, int steps) {
  const Array<Real> o = call.o, all = fine.o;
  const int Dv = call.shape.Dv;
  each_row(
      "sub_steps::last", int(call.steps()), Dv, KOKKOS_LAMBDA(int t, int first, int side) {
        for (int i = first; i < Dv; i += side) o(size_t(t) * Dv + i) = all((size_t(t) * steps + steps - 1) * Dv + i);
      });
}

/// The backward call in which every sub-step is a step, with arrays for its gradients.
template <class Real> BackwardCall<Real> in_single_steps(const BackwardCall<Real> &back, int steps) {
  const Call<Real> &call = back.call;
  const size_t n = call.steps() * steps;
  BackwardCall<Real> fine = back;
  fine.call = in_single_steps(call, steps);
  fine.d.shape.T = fine.call.shape.T, fine.d.o = repeated(call, steps, back.d.o, call.shape.Dv, steps - 1);
  fine.d.q = allocate(call, n * call.shape.Dk), fine.d.k = allocate(call, n * call.shape.Dk);
  fine.d.v = allocate(call, n * call.shape.Dv), fine.d.beta = allocate(call, n);
  if (call.alpha.extent(0)) fine.d.alpha = allocate(call, n);
  return fine;
}

/// Sums a token's gradients over its sub-steps.
template <class Real> struct GatherSteps {
  int steps, Dk, Dv;
  Array<Real> q, k, v, beta, alpha; // of the sub-steps
  Array<Real> d_q, d_k, d_w, d_v, d_beta, d_alpha;
  KOKKOS_FUNCTION void operator()(int token, int first, int side) const {
    const size_t t = token, begin = t * steps;
    for (int c = first; c < Dk; c += side) {
      Real at_k = 0, at_w = 0;
      for (int j = 0; j < steps; ++j) ((steps - 1 - j) % 2 == 0 ? at_k : at_w) += k((begin + j) * Dk + c);
      d_q(t * Dk + c) = q((begin + steps - 1) * Dk + c), d_k(t * Dk + c) = at_k, d_w(t * Dk + c) = at_w;
    }
    for (int i = first; i < Dv; i += side) {
      Real sum = 0;
      for (int j = 0; j < steps; ++j) sum += v((begin + j) * Dv + i);
      d_v(t * Dv + i) = sum;
    }
    if (first) return;
    Real sum = 0;
    for (int j = 0; j < steps; ++j) sum += beta(begin + j);
    d_beta(t) = sum;
    if (alpha.extent(0)) d_alpha(t) = alpha(begin);
  }
};
template <class Real> void gather_steps(const BackwardCall<Real> &back, const BackwardCall<Real> &fine, int steps) {
  const Call<Real> &of = fine.d, &d = back.d;
  const Shape &n = back.call.shape;
  each_row(
      "sub_steps::gather", int(back.call.steps()), n.Dk,
      GatherSteps<Real>{steps, n.Dk, n.Dv, of.q, of.k, of.v, of.beta, of.alpha, d.q, d.k, d.w, d.v, d.beta, d.alpha});
}

/// Forward pass of a layer with beta, optionally alpha and w, and the parameter `householder`, the number of sub-steps.
template <class Real> void delta_steps(const std::string &label, const Call<Real> &call) {
  const int steps = call.params.integer("householder");
  if constexpr (on_host) {
    DeltaRule<Real> rule = as_delta_rule(call, sub_steps(call, steps));
    rule.steps = steps;
    delta_rule(label, call, rule);
  } else { // a chunk with all its sub-steps does not fit a GPU's shared memory
    const Call<Real> fine = in_single_steps(call, steps);
    decay_first(label, fine, {fine.k, fine.k, fine.beta, fine.alpha});
    read_last_steps(call, fine, steps);
  }
}
template <class Real> void delta_steps_vjp(const std::string &label, const BackwardCall<Real> &back) {
  const int steps = back.call.params.integer("householder");
  const BackwardCall<Real> fine = in_single_steps(back, steps);
  const Call<Real> &call = fine.call, &d = fine.d;
  decay_first_vjp(label, fine, {call.k, call.k, call.beta, call.alpha}, {d.k, d.k, d.beta, d.alpha});
  gather_steps(back, fine, steps);
}

} // namespace recollect::variants
