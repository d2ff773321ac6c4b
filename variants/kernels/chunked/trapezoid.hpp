// SPDX-License-Identifier: Apache-2.0
// Mamba-3's recurrence as a decayed sum (gated_recurrence.hpp) over twice as many steps. Step t first writes the
// previous step's value with the key diag(1 - lambda_t) k_{t-1}. Then the state decays and turns. Then step t writes
// its own value with the key diag(lambda_t) k_t, and reads. As in rotation.hpp, keys and queries are turned by Theta_t
// = theta_1 + ... + theta_t, and the final state is turned back. The stored state is thus relative to the last step, so
// no angle is stored with it. A pair of channels (2 p, 2 p + 1) is a complex number; a last channel without a partner
// does not turn.
//
// A head's state is S [Dv,Dk], then the last write P = v_T k_T^T [Dv,Dk].
#pragma once
#include "variants/kernels/chunked/rotation.hpp"
#include "variants/kernels/chunked/sub_steps.hpp"

namespace recollect::variants {

template <class Real> KOKKOS_FUNCTION Complex<Real> conjugate(const Complex<Real> &z) { return {z.re, -z.im}; }
/// a.re b.re + i a.im b.im: real parts and imaginary parts are multiplied separately.
template <class Real> KOKKOS_FUNCTION Complex<Real> by_parts(const Complex<Real> &a, const Complex<Real> &b) {
  return {a.re * b.re, a.im * b.im};
}
template <class Real> KOKKOS_FUNCTION Complex<Real> one_minus(const Complex<Real> &z) { return {1 - z.re, 1 - z.im}; }

/// The pairs of channels of rows [Dk], and the angles by which steps turn them: beta_t (w_{2p} + w_{2p+1}), or 0 if the
/// call has no w.
template <class Real> struct Pairs {
  HeadArrays<Real> arrays;
  bool turns;
  int count;
  explicit Pairs(const Call<Real> &call) : arrays(call), turns(call.has("w")), count((call.shape.Dk + 1) / 2) {}
  KOKKOS_FUNCTION bool full(int p) const { return 2 * p + 1 < arrays.Dk; }
  KOKKOS_FUNCTION Complex<Real> at(const Real *row, int p) const {
    return {row[2 * p], full(p) ? row[2 * p + 1] : Real(0)};
  }
  KOKKOS_FUNCTION void put(const Complex<Real> &z, Real *row, int p) const {
    row[2 * p] = z.re;
    if (full(p)) row[2 * p + 1] = z.im;
  }
  KOKKOS_FUNCTION Real angle(const Head<Real> &h, int t, int p) const {
    return turns && full(p) ? h.beta[t] * (h.w(t)[2 * p] + h.w(t)[2 * p + 1]) : Real(0);
  }
};

/// Computes the keys and queries of both writes of every step, turned by the angles so far, for one pair of channels.
template <class Real> struct TurnWrites {
  Pairs<Real> pairs;
  Array<Real> q, k, end; // q, k: [B,H,2T,Dk]; end: [B,H,pairs,2] e^{i Theta_T}
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const Head<Real> h = pairs.arrays.head(unit / pairs.count);
    const int p = int(unit % pairs.count);
    Complex<Real> turn{1, 0}, before{0, 0};
    for (int t = 0; t < h.T; ++t) {
      const size_t first = 2 * (h.index * h.T + t) * h.Dk, own = first + h.Dk;
      const Complex<Real> lambda = pairs.at(h.lambda(t), p), key = pairs.at(h.k(t), p);
      pairs.put(turn * by_parts(one_minus(lambda), before), &k(first), p);
      pairs.put({0, 0}, &q(first), p);
      turn = following(turn, pairs.angle(h, t, p));
      pairs.put(turn * by_parts(lambda, key), &k(own), p);
      pairs.put(turn * pairs.at(h.q(t), p), &q(own), p);
      before = key;
    }
    end(2 * unit) = turn.re, end(2 * unit + 1) = turn.im;
  }
};

/// Turns every row of S by e^{i Theta_T} if `forth`, else by e^{-i Theta_T}.
template <class Real> struct TurnRows {
  Pairs<Real> pairs;
  Array<Real> state, end;
  bool forth;
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const HeadArrays<Real> &a = pairs.arrays;
    const size_t head = unit / a.Dv;
    Real *const row = &state(head * a.state_size + unit % a.Dv * a.Dk);
    for (int p = 0; p < pairs.count; ++p) {
      const size_t at = 2 * (head * pairs.count + p);
      pairs.put(pairs.at(row, p) * Complex<Real>{end(at), forth ? end(at + 1) : -end(at + 1)}, row, p);
    }
  }
};

/// The decayed sum over both writes of all steps, and the call that runs this sum from `state`. trapezoid() adds the
/// first step's write of P to `state`.
template <class Real> struct Trapezoid {
  Call<Real> call;
  GatedRecurrence<Real> sum;
  Array<Real> end;
};
template <class Real> Trapezoid<Real> trapezoid(const Call<Real> &call, const Array<Real> &state) {
  const int Dk = call.shape.Dk, Dv = call.shape.Dv, T = call.shape.T;
  const Pairs<Real> pairs(call);
  Trapezoid<Real> out{call, {}, allocate(call, call.shape.heads() * pairs.count * 2)};
  Call<Real> &fine = out.call;
  fine.shape.T = 2 * T, fine.state = state;
  fine.q = allocate(call, 2 * call.q.extent(0)), fine.k = allocate(call, 2 * call.k.extent(0));
  fine.v = allocate(call, 2 * call.v.extent(0)), fine.o = allocate(call, 2 * call.v.extent(0));
  out.sum = {Dk,
             fine.q,
             fine.k,
             repeated(call, 2, call.alpha, 1, 1, Real(1)),
             {},
             Real(1),
             {},
             false,
             repeated(call, 2, call.beta, 1)};
  parallel_loop("trapezoid::turn", call.shape.heads() * pairs.count, TurnWrites<Real>{pairs, fine.q, fine.k, out.end});
  const Array<Real> v = fine.v, values = call.v;
  each_row(
      "trapezoid::values", int(2 * call.steps()), Dv, KOKKOS_LAMBDA(int s, int first, int side) {
        const int step = s / 2, from = s % 2 ? step : step - 1;
        for (int i = first; i < Dv; i += side)
          v(size_t(s) * Dv + i) = s % 2 || step % T ? values(size_t(from) * Dv + i) : Real(0);
      });
  parallel_loop(
      "trapezoid::start", call.shape.heads() * Dv * Dk, KOKKOS_LAMBDA(const size_t i) {
        const Head<Real> h = pairs.arrays.head(i / (size_t(Dv) * Dk));
        const size_t cell = i % (size_t(Dv) * Dk), at = h.index * pairs.arrays.state_size + cell;
        state(at) += h.beta[0] * (1 - h.lambda(0)[cell % Dk]) * state(at + size_t(Dv) * Dk);
      });
  return out;
}

template <class Real> void trapezoid_chunked(const std::string &label, const Call<Real> &call) {
  const Pairs<Real> pairs(call);
  const Trapezoid<Real> both = trapezoid(call, call.state);
  gated_recurrence(label, both.call, both.sum);
  read_last_steps(call, both.call, 2);
  parallel_loop("trapezoid::state", call.shape.heads() * call.shape.Dv,
                TurnRows<Real>{pairs, call.state, both.end, false});
  parallel_loop(
      "trapezoid::last", call.shape.heads() * call.shape.Dv * call.shape.Dk, KOKKOS_LAMBDA(const size_t i) {
        const size_t size = size_t(pairs.arrays.Dv) * pairs.arrays.Dk, cell = i % size;
        const Head<Real> h = pairs.arrays.head(i / size);
        h.state[size + cell] = h.v(h.T - 1)[cell / h.Dk] * h.k(h.T - 1)[cell % h.Dk];
      });
}

} // namespace recollect::variants
