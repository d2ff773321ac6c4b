// SPDX-License-Identifier: Apache-2.0
// Gradients of trapezoid.hpp. The gradients of the decayed sum's queries and keys are turned back, and the gradients of
// the two writes of each step are added. The angle theta_t turns everything before step t relative to everything after
// it, as in rotation_backward.hpp:
//
//   dtheta_1 = sum of Im(S_0 conj(dS_0)) over rows,   dtheta_{t+1} = dtheta_t - dTheta_t
//
// Here dTheta_t is the sum of the contributions of the query of step t and of both writes with k_t. The first line
// holds because turning at the first step has the same effect as turning the state before it. S_0 includes the first
// step's write of P.
#pragma once
#include "variants/kernels/chunked/trapezoid.hpp"

namespace recollect::variants {

/// Computes the gradients of q, k and lambda from the gradients of the turned queries and keys, and writes the
/// gradients of the steps' angles to d_w.
template <class Real> struct CollectWrites {
  Pairs<Real> pairs;
  Array<Real> state, d_state;          // S_0, P_0 and their gradients
  Array<Real> fine_q, fine_k;          // gradients [B,H,2T,Dk]
  Array<Real> d_q, d_k, d_lambda, d_w; // [B,H,T,Dk]
  KOKKOS_FUNCTION static Real slope(const Complex<Real> &z, const Complex<Real> &d) {
    return z.re * d.im - z.im * d.re;
  }
  KOKKOS_FUNCTION static Complex<Real> sum(const Complex<Real> &a, const Complex<Real> &b, Real sign = 1) {
    return {a.re + sign * b.re, a.im + sign * b.im};
  }
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const Head<Real> h = pairs.arrays.head(unit / pairs.count);
    const int p = int(unit % pairs.count);
    Complex<Real> turn{1, 0};
    Real d_angle = 0;
    for (int i = 0; i < h.Dv; ++i) {
      const size_t row = h.index * pairs.arrays.state_size + size_t(i) * h.Dk;
      d_angle -= slope(pairs.at(&state(row), p), pairs.at(&d_state(row), p));
    }
    for (int t = 0; t < h.T; ++t) {
      const size_t step = h.index * h.T + t, to = step * h.Dk, own = (2 * step + 1) * h.Dk;
      turn = following(turn, pairs.angle(h, t, p));
      pairs.put({d_angle, d_angle}, &d_w(to), p);
      const Complex<Real> lambda = pairs.at(h.lambda(t), p), key = pairs.at(h.k(t), p), back = conjugate(turn);
      const Complex<Real> g_q = back * pairs.at(&fine_q(own), p), g_k = back * pairs.at(&fine_k(own), p);
      Complex<Real> of_key = by_parts(lambda, g_k);
      pairs.put(sum(pairs.at(&d_lambda(to), p), by_parts(key, g_k)), &d_lambda(to), p);
      d_angle -= slope(pairs.at(h.q(t), p), g_q) + slope(by_parts(lambda, key), g_k);
      if (t + 1 < h.T) { // the next step also writes with this key
        const Complex<Real> other = one_minus(pairs.at(h.lambda(t + 1), p)),
                            g = back * pairs.at(&fine_k(own + h.Dk), p);
        of_key = sum(of_key, by_parts(other, g));
        const Complex<Real> g_lambda = by_parts(key, g);
        pairs.put({-g_lambda.re, -g_lambda.im}, &d_lambda(to + h.Dk), p);
        d_angle -= slope(by_parts(other, key), g);
      }
      pairs.put(g_q, &d_q(to), p);
      pairs.put(sum(of_key, pairs.at(&d_k(to), p)), &d_k(to), p);
    }
  }
};

template <class Real> void trapezoid_vjp(const std::string &label, const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call, &d = back.d;
  const int Dk = call.shape.Dk, Dv = call.shape.Dv, T = call.shape.T;
  const size_t heads = call.shape.heads(), size = size_t(Dv) * Dk, n = 2 * call.steps();
  const Pairs<Real> pairs(call);
  const Array<Real> state = allocate(call, call.state.extent(0));
  Kokkos::deep_copy(state, call.state);
  BackwardCall<Real> fine{{}, back.d};
  const Trapezoid<Real> both = trapezoid(call, state);
  fine.call = both.call;
  fine.d.shape.T = 2 * T, fine.d.o = repeated(call, 2, d.o, Dv, 1), fine.d.v = allocate(call, n * Dv);
  GatedRecurrenceGradient<Real> of{allocate(call, n * Dk), allocate(call, n * Dk), allocate(call, n),
                                   allocate(call, n)};
  parallel_loop(label + "::state", heads * Dv, TurnRows<Real>{pairs, d.state, both.end, true});
  gated_recurrence_vjp(label, fine, both.sum, of);

  const Array<Real> d_state = d.state, d_v = d.v, d_k = d.k, d_beta = d.beta, d_alpha = d.alpha, d_lambda = d.lambda,
                    d_w = d.w, fine_v = fine.d.v, last = call.state;
  each_row(
      "trapezoid::values", int(call.steps()), Dv, KOKKOS_LAMBDA(int step, int first, int side) {
        const Head<Real> h = pairs.arrays.head(size_t(step) / T);
        const int t = step % T;
        const size_t own = (2 * size_t(step) + 1) * Dv;
        for (int i = first; i < Dv; i += side) {
          Real sum = fine_v(own + i);
          if (t + 1 < T)
            sum += fine_v(own + Dv + i);
          else
            sum += dot(&d_state(h.index * 2 * size + size + size_t(i) * Dk), h.k(t), Dk);
          d_v(size_t(step) * Dv + i) = sum;
        }
      });
  each_row( // adds the gradients through P: to the last key, and to the first lambda
      "trapezoid::keys", int(call.steps()), Dk, KOKKOS_LAMBDA(int step, int first, int side) {
        const Head<Real> h = pairs.arrays.head(size_t(step) / T);
        const int t = step % T;
        const size_t S = h.index * 2 * size, P = S + size;
        for (int j = first; j < Dk; j += side) {
          Real key = 0, lambda = 0;
          for (int i = 0; t + 1 == T && i < Dv; ++i) key += d_state(P + size_t(i) * Dk + j) * h.v(t)[i];
          for (int i = 0; t == 0 && i < Dv; ++i)
            lambda -= h.beta[0] * d_state(S + size_t(i) * Dk + j) * last(P + size_t(i) * Dk + j);
          d_k(size_t(step) * Dk + j) = key;
          if (t == 0) d_lambda(size_t(step) * Dk + j) = lambda;
        }
      });
  parallel_loop(label + "::turn", heads * pairs.count,
                CollectWrites<Real>{pairs, state, d.state, of.q, of.k, d.q, d.k, d.lambda, d.w});
  const Array<Real> strength = of.strength, alpha = of.alpha;
  parallel_loop(
      "trapezoid::steps", call.steps(), KOKKOS_LAMBDA(const size_t step) {
        const Head<Real> h = pairs.arrays.head(step / T);
        const int t = int(step % T);
        Real sum = strength(2 * step) + strength(2 * step + 1);
        for (int j = 0; j < Dk; ++j) {
          const size_t at = step * Dk + j, cell = h.index * 2 * size + j;
          const bool turned = pairs.turns && pairs.full(j / 2);
          const Real d_angle = turned ? d_w(at) : Real(0);
          sum += d_angle * h.w(t)[j];
          d_w(at) = h.beta[t] * d_angle;
          for (int i = 0; t == 0 && i < Dv; ++i)
            sum += (1 - h.lambda(0)[j]) * d_state(cell + size_t(i) * Dk) * last(cell + size + size_t(i) * Dk);
        }
        d_beta(step) = sum, d_alpha(step) = alpha(2 * step + 1);
      });
  parallel_loop(
      "trapezoid::start", heads * size, KOKKOS_LAMBDA(const size_t i) {
        const Head<Real> h = pairs.arrays.head(i / size);
        const size_t cell = i % size, at = h.index * 2 * size + cell;
        d_state(at + size) = h.beta[0] * (1 - h.lambda(0)[cell % Dk]) * d_state(at);
      });
}

} // namespace recollect::variants
