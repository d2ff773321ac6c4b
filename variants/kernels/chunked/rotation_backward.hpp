// SPDX-License-Identifier: Apache-2.0
// Gradients of layers whose state rotates (rotation.hpp). Let q'_t be the query features q_t rotated by -Theta_t, with
// Theta_t = theta_1 + ... + theta_t. Then dq_t = Re(e^{i Theta_t} dq'_t), and q_t contributes -q_t Im(e^{i Theta_t}
// dq'_t) to dTheta_t. The same holds for keys. The angle theta_t rotates everything after step t relative to everything
// before it. Hence
//
//   dtheta_1 = sum of Im(conj(S_0) dS_0),   dtheta_{t+1} = dtheta_t - dTheta_t
//
// because rotating at the first step is the same as rotating the initial state.
#pragma once
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/rotation.hpp"

namespace recollect::variants {

/// Rotates the final state's gradient back to the angles of the decayed sum. Each call takes one row of one head.
template <class Real> struct TurnGradientBack {
  Array<Real> state, end; // state: [B,H,rows,2F]; end: [B,H,F,2] e^{i Theta_T}
  int F, rows;
  KOKKOS_FUNCTION void operator()(size_t row) const {
    const Real *turn = end.data() + row / rows * 2 * F;
    for (int j = 0; j < F; ++j)
      rotate_and_write(state.data() + row * 2 * F, j, F, Complex<Real>{turn[2 * j], -turn[2 * j + 1]}, Real(0));
  }
};

/// Computes d_in and d_phase of one channel of a head, from the first step to the last.
template <class Real, class Phase> struct TurnForth {
  Features<Real> in, d_turned, d_in;
  Array<Real> state, d_state, d_phase; // state, d_state: at the sequence's start; d_phase [B,H,T,F], empty: not wanted
  int T, rows;
  Phase phase;
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const int F = in.width;
    const size_t head = unit / F, j = unit % F;
    Complex<Real> turn{1, 0};
    Real slope = 0;
    for (int row = 0; row < rows; ++row) {
      const size_t re = (head * rows + row) * 2 * F + j, im = re + F;
      slope += state(re) * d_state(im) - state(im) * d_state(re);
    }
    for (size_t step = head * T; step < (head + 1) * T; ++step) {
      turn = following(turn, Real(phase(step, int(j))));
      const size_t own = step * F + j, turned = step * 2 * F + j;
      const Complex<Real> q = turn * Complex<Real>{d_turned.q(turned), d_turned.q(turned + F)},
                          k = turn * Complex<Real>{d_turned.k(turned), d_turned.k(turned + F)};
      d_in.q(own) = q.re, d_in.k(own) = k.re;
      if (d_phase.extent(0)) d_phase(own) = slope;
      slope += in.q(own) * q.im + in.k(own) * k.im;
    }
  }
};

/// Backward pass of the three steps: rotate the features (turn_back(in)), take their decayed sum (`sum`), rotate the
/// state (turn_state()). Writes d_in, d_phase, back.d.v, back.d.state and the members of d_sum other than q and k.
template <class Real, class Phase>
void turned_vjp(const std::string &label, const BackwardCall<Real> &back, const Features<Real> &in, const Phase &phase,
                GatedRecurrence<Real> sum, GatedRecurrenceGradient<Real> d_sum, const Features<Real> &d_in,
                const Array<Real> &d_phase = {}) {
  const Call<Real> &call = back.call;
  const int F = in.width, rows = call.state_shape.rows, T = call.shape.T;
  const size_t heads = call.shape.heads();
  const Turned<Real> turned = turn_back(call, in, phase);
  parallel_loop(label + "::state", heads * rows, TurnGradientBack<Real>{back.d.state, turned.end, F, rows});
  sum.width = 2 * F, sum.q = turned.features.q, sum.k = turned.features.k;
  d_sum.q = allocate(call, sum.q.extent(0)), d_sum.k = allocate(call, sum.k.extent(0));
  gated_recurrence_vjp(label, back, sum, d_sum);
  parallel_loop(
      label + "::turn", heads * F,
      TurnForth<Real, Phase>{in, {2 * F, d_sum.q, d_sum.k}, d_in, call.state, back.d.state, d_phase, T, rows, phase});
}

} // namespace recollect::variants
