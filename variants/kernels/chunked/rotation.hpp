// SPDX-License-Identifier: Apache-2.0
// Complex decays r_t e^{i theta_t} per channel, with real keys and queries:
//
//   S_t = S_{t-1} diag(r_t e^{i theta_t}) + v_t k_t^T,   o_t = Re(S_t q_t)
//
// State: V rows of [real part (F), imaginary part (F)]. Let Theta_t = theta_1 + ... + theta_t, and let r be the product
// of r_{i+1} ... r_t. In the output of step t, the write of step i has the weight q_t k_i r cos(Theta_t - Theta_i) = r
// (Re(q_t e^{-i Theta_t}) Re(k_i e^{-i Theta_i}) + the product of the two imaginary parts). So this is a real decayed
// sum over features rotated by -Theta, whose final state is rotated by Theta_T.
//
// e^{i Theta} is computed as a running product, which avoids large angles. The product is normalised to length 1 at
// every step, because weights contain the square of its length, and rounding errors of the length would accumulate.
// Errors of its angle accumulate too, but a weight contains only the errors between its two steps.
#pragma once
#include "variants/kernels/chunked/feature_map.hpp"

namespace recollect::variants {

template <class Real> struct Complex {
  Real re, im;
  KOKKOS_FUNCTION friend Complex operator*(const Complex &a, const Complex &b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
template <class Real> KOKKOS_FUNCTION Complex<Real> unit_phase(Real angle) {
  return {math::cos(angle), math::sin(angle)};
}
/// Returns turn e^{i angle}, normalised to length 1.
template <class Real> KOKKOS_FUNCTION Complex<Real> following(Complex<Real> turn, Real angle) {
  turn = turn * unit_phase(angle);
  const Real stretch = (3 - (turn.re * turn.re + turn.im * turn.im)) / 2; // 1 / |turn| to second order
  return {stretch * turn.re, stretch * turn.im};
}

/// Advances one channel of a state row by a step, s = s a + v k, where `written` is v k. `s` points to the row, [re |
/// im] of F columns each. Returns Re(s).
template <class Real>
KOKKOS_FUNCTION Real rotate_and_write(Real *s, int j, int F, const Complex<Real> &a, Real written) {
  const Complex<Real> next = Complex<Real>{s[j], s[F + j]} * a;
  s[F + j] = next.im;
  return s[j] = next.re + written;
}

template <class Real, class Phase> struct TurnBack {
  Features<Real> in, out;
  Array<Real> end; // [B,H,F,2] e^{i Theta_T}
  int T;
  Phase phase; // phase(step, j): theta of channel j at step 0 ... B H T - 1
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const int F = in.width;
    const size_t head = unit / F, j = unit % F;
    Complex<Real> turn{1, 0};
    for (size_t step = head * T; step < (head + 1) * T; ++step) {
      turn = following(turn, Real(phase(step, int(j))));
      const size_t from = step * F + j, to = step * 2 * F + j;
      out.q(to) = in.q(from) * turn.re, out.q(to + F) = -in.q(from) * turn.im;
      out.k(to) = in.k(from) * turn.re, out.k(to + F) = -in.k(from) * turn.im;
    }
    end(2 * unit) = turn.re, end(2 * unit + 1) = turn.im;
  }
};

/// Features rotated by the negative accumulated phase, and the rotation e^{i Theta_T} at the end of the sequence.
template <class Real> struct Turned {
  Features<Real> features; // width 2 F
  Array<Real> end;         // [B,H,F,2]
};

template <class Real, class Phase>
Turned<Real> turn_back(const Call<Real> &call, const Features<Real> &in, const Phase &phase) {
  const size_t channels = call.shape.heads() * in.width;
  Turned<Real> out{{2 * in.width, allocate(call, 2 * in.q.extent(0)), allocate(call, 2 * in.k.extent(0))},
                   allocate(call, 2 * channels)};
  parallel_loop("turn_back", channels, TurnBack<Real, Phase>{in, out.features, out.end, call.shape.T, phase});
  return out;
}

/// Rotates the final state by Theta_T. The decayed sum over rotated features leaves a state relative to the angle
/// before the first step.
template <class Real> void turn_state(const Call<Real> &call, const Turned<Real> &turned) {
  const int F = turned.features.width / 2, rows = call.state_shape.rows;
  const Array<Real> state = call.state, end = turned.end;
  parallel_loop(
      "turn_state", call.shape.heads() * rows, KOKKOS_LAMBDA(const size_t row) {
        const Real *turn = end.data() + row / rows * 2 * F;
        for (int j = 0; j < F; ++j)
          rotate_and_write(state.data() + row * 2 * F, j, F, Complex<Real>{turn[2 * j], turn[2 * j + 1]}, Real(0));
      });
}

/// Returns an array [rows,2F] that has every row of x [rows,F] twice, one copy after the other.
template <class Real> Array<Real> twice(const Call<Real> &call, const Array<Real> &x, int F) {
  return map_rows(
      "twice", call, x, F, 2 * F, KOKKOS_LAMBDA(const Real *row, int n, Real *out) {
        for (int j = 0; j < n; ++j) out[j] = out[n + j] = row[j];
      });
}

} // namespace recollect::variants
