// SPDX-License-Identifier: Apache-2.0
// Gradients of layers that have no chunked backward pass. The recurrence S_t = f(S_{t-1}, x_t), o_t = g(S_t, x_t) is
// run step by step in both directions; x_t are all inputs of step t. The forward pass saves the state at the start of
// each segment of about sqrt(T) steps. The backward pass recomputes the states of one segment at a time. This takes
// memory for about 2 sqrt(T) states per head, and runs two forward passes. For some layers, the gradient dS passes
// through a segment by a map that does not depend on the states; their segments run in parallel
// (segments_backward.hpp).
//
// A layer supplies a step, a functor that has
//   scratch()                                        number of reals of scratch memory
//   advance(team, head, t, before, after, scratch)   writes the state after step t
//   back(team, head, t, before, after, dS, d, scratch)
// On entry to back(), `dS` is the gradient of S_t without the part from o_t; on return it is the gradient of S_{t-1}.
// back() writes all gradients of x_t to `d`. advance() and back() contain the barriers that they need; the caller
// adds one after each call.
#pragma once
#include "variants/kernels/common/arrays.hpp"
#include <cmath>

namespace recollect::variants {

/// Gradients at step t: the gradient of o is an input, all others are outputs.
template <class Real> struct StepGradient {
  const Real *o;
  Real *q, *k, *v, *beta, *alpha, *lambda, *w; // null: the layer has no such input
};

/// Forward and backward passes over some steps of a head, with the arrays that they read and write.
template <class Number, class Step> struct StepsBack {
  using Real = Number;
  HeadArrays<Real> arrays;
  Array<Real> d_o, d_q, d_k, d_v, d_beta, d_alpha, d_lambda, d_w, d_state;
  Step step;

  StepsBack(const BackwardCall<Real> &back, const Step &step)
      : arrays(back.call), d_o(back.d.o), d_q(back.d.q), d_k(back.d.k), d_v(back.d.v), d_beta(back.d.beta),
        d_alpha(back.d.alpha), d_lambda(back.d.lambda), d_w(back.d.w), d_state(back.d.state), step(step) {}

  /// Sizes (in numbers) of `states` for `steps` steps, and of `buffer`.
  KOKKOS_FUNCTION size_t states_size(int steps) const { return size_t(steps + 1) * arrays.state_size; }
  KOKKOS_FUNCTION size_t buffer_size() const { return step.scratch(); }

  /// Writes to `states` the state `start` before step `begin`, and the states after steps begin ... end - 1.
  KOKKOS_FUNCTION void replay(const Team &team, const Head<Real> &h, int begin, int end, const Real *start,
                              Real *states, Real *buffer) const {
    const size_t n = arrays.state_size;
    team.barrier();
    copy(team, n, start, states);
    team.barrier();
    for (int t = begin; t < end; ++t, states += n) {
      step.advance(team, h, t, states, states + n, buffer);
      team.barrier();
    }
  }
  /// Gradients of the inputs of steps begin ... end - 1. On entry, `dS` is the gradient of the state after these steps;
  /// on return, of the state before them.
  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int begin, int end, const Real *states, Real *dS,
                            Real *buffer) const {
    for (int t = end - 1; t >= begin; --t) {
      const Real *before = states + (t - begin) * arrays.state_size;
      step.back(team, h, t, before, before + arrays.state_size, dS, at(h.index, t), buffer);
      team.barrier();
    }
  }
  KOKKOS_FUNCTION static void copy(const Team &team, size_t n, const Real *from, Real *to) {
    for (size_t i = team.rank; i < n; i += team.size) to[i] = from[i];
  }

private:
  KOKKOS_FUNCTION StepGradient<Real> at(size_t head, int t) const {
    const size_t own = head * arrays.T + t, key = own * arrays.Dk, value = own * arrays.Dv;
    const auto given = [](const Array<Real> &input, const Array<Real> &d, size_t first) {
      return input.extent(0) ? d.data() + first : nullptr;
    };
    return {d_o.data() + value,
            d_q.data() + key,
            d_k.data() + key,
            d_v.data() + value,
            given(arrays.beta, d_beta, own),
            given(arrays.alpha, d_alpha, own),
            given(arrays.lambda, d_lambda, key),
            given(arrays.w, d_w, key)};
  }
};

template <class Number, class Step> struct RecurrentAdjoint {
  using Real = Number;
  StepsBack<Real, Step> steps;
  int segment; // steps between the states that the forward pass saves

  KOKKOS_FUNCTION int segments() const { return (steps.arrays.T - 1) / segment + 1; }
  size_t scratch() const {
    return segments() * steps.arrays.state_size + steps.states_size(segment) + steps.buffer_size();
  }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Real *work) const {
    const Head<Real> h = steps.arrays.head(head);
    const size_t n = steps.arrays.state_size;
    const int count = segments();
    Real *starts = work, *states = starts + count * n, *buffer = states + steps.states_size(segment),
         *dS = steps.d_state.data() + head * n;
    steps.copy(team, n, h.state, starts);
    for (int c = 0; c < count; ++c) {
      steps.replay(team, h, c * segment, end(c), starts + c * n, states, buffer);
      if (c + 1 < count) steps.copy(team, n, states + segment * n, starts + (c + 1) * n);
    }
    for (int c = count - 1; c >= 0; --c) {
      if (c + 1 < count) // the states of the last segment are still in memory
        steps.replay(team, h, c * segment, end(c), starts + c * n, states, buffer);
      steps.back(team, h, c * segment, end(c), states, dS, buffer);
    }
  }

private:
  KOKKOS_FUNCTION int end(int c) const {
    return (c + 1) * segment < steps.arrays.T ? (c + 1) * segment : steps.arrays.T;
  }
};

/// Gradients of all inputs of the layer, from the gradients of its outputs and of its final state.
template <class Real, class Step>
void recurrent_vjp(const std::string &label, const BackwardCall<Real> &back, const Step &step) {
  const Call<Real> &call = back.call;
  const RecurrentAdjoint<Real, Step> kernel{{back, step}, int(std::ceil(std::sqrt(double(call.shape.T))))};
  run<Real>({label, call.shape.heads(), 128, call.math}, *call.arena, kernel.scratch(), kernel);
}

} // namespace recollect::variants
