// SPDX-License-Identifier: Apache-2.0
// The Omega rule on a matrix: at every token, one gradient step on the sum of the losses of the last c tokens. All c
// losses are evaluated at the state before the step.
//
//   e_i = v_i - S_{t-1} k_i,   i = t-c+1 ... t
//   S_t = alpha_t S_{t-1} + eta sum_i beta_i e_i k_i^T,   o_t = S_t q_t
//
// The state has Dk + c - 1 columns. Row i < Dv holds row i of S, then channel i of the last c - 1 values, the oldest
// first. One row for each of the last c - 1 keys follows: the key, its step size beta, and zeros. A step size of 0
// means that this token does not exist yet.
#pragma once
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/common/recurrent_backward.hpp"

namespace recollect::variants {

template <class Real> struct OmegaRule {
  int Dk, Dv, past; // c - 1
  Real eta;

  KOKKOS_FUNCTION int pitch() const { return Dk + past; }
  KOKKOS_FUNCTION size_t errors_size() const { return size_t(Dv) * (past + 1); }
  KOKKOS_FUNCTION size_t scratch() const { return 2 * errors_size() + size_t(past + 1) * (Dk + 1); }
  // Key, channel i of the value, and step size of token p in the window that ends at step t. Tokens are counted from
  // the oldest; p = past is the token of step t.
  KOKKOS_FUNCTION const Real *key(const Head<Real> &h, int t, const Real *state, int p) const {
    return p < past ? state + size_t(Dv + p) * pitch() : h.k(t);
  }
  KOKKOS_FUNCTION Real value(const Head<Real> &h, int t, const Real *state, int p, int i) const {
    return p < past ? state[size_t(i) * pitch() + Dk + p] : h.v(t)[i];
  }
  KOKKOS_FUNCTION Real step(const Head<Real> &h, int t, const Real *state, int p) const {
    return eta * (p < past ? key(h, t, state, p)[Dk] : h.beta[t]);
  }

  /// Computes the errors e_i of the window, as e [Dv,c].
  KOKKOS_FUNCTION void errors(const Team &team, const Head<Real> &h, int t, const Real *state, Real *e) const {
    const int c = past + 1;
    each(team, Dv * c, [=, *this](int at) {
      const int i = at / c, p = at % c;
      e[at] = value(h, t, state, p, i) - dot(state + size_t(i) * pitch(), key(h, t, state, p), Dk);
    });
  }

  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *e) const {
    const int c = past + 1, row = pitch();
    errors(team, h, t, before, e);
    team.barrier();
    each(team, Dv * c, [=, *this](int at) { e[at] *= step(h, t, before, at % c); });
    team.barrier();
    each_cell(team, Dv, row, [=, *this](int i, int j) {
      const size_t cell = size_t(i) * row + j;
      if (j >= Dk) {
        after[cell] = value(h, t, before, j - Dk + 1, i); // each token moves one place towards the oldest
      } else {
        Real s = h.alpha[t] * before[cell];
        for (int p = 0; p < c; ++p) s += e[i * c + p] * key(h, t, before, p)[j];
        after[cell] = s;
      }
    });
    each_cell(team, past, row, [=, *this](int p, int j) {
      const bool newest = p + 1 == past;
      after[size_t(Dv + p) * row + j] = !newest   ? before[size_t(Dv + p + 1) * row + j]
                                        : j < Dk  ? h.k(t)[j]
                                        : j == Dk ? h.beta[t]
                                                  : Real(0);
    });
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dS, const StepGradient<Real> &d, Real *e) const {
    const int c = past + 1, row = pitch(), width = Dk + 1;
    const Real *q = h.q(t);
    Real *along = e + errors_size(),
         *d_token = along + errors_size(); // [Dv,c] scratch; [c,Dk+1] gradients of each token's key and step size
    errors(team, h, t, before, e);
    each(team, Dk, [=](int j) { d.q[j] = 0; });
    team.barrier();
    each_cell(team, Dv, Dk, [=](int i, int j) { dS[size_t(i) * row + j] += d.o[i] * q[j]; });
    down_columns(team, Dv, Dk, [=](int i, int j) { d.q[j] += after[size_t(i) * row + j] * d.o[i]; });
    team.barrier();
    each(team, Dv * c,
         [=, *this](int at) { along[at] = dot(dS + size_t(at / c) * row, key(h, t, before, at % c), Dk); });
    const Real d_alpha = reduce(
        team, Dv, Real(0), [=, *this](int i) { return dot(dS + size_t(i) * row, before + size_t(i) * row, Dk); },
        [](Real a, Real b) { return a + b; });
    once(team, [=] { *d.alpha = d_alpha; });
    team.barrier();
    each_cell(team, c, width, [=, *this](int p, int j) {
      const Real size = step(h, t, before, p);
      Real sum = 0;
      for (int i = 0; i < Dv; ++i) {
        const size_t cell = size_t(i) * row + j;
        sum += j == Dk ? eta * e[i * c + p] * along[i * c + p]
                       : size * (e[i * c + p] * dS[cell] - along[i * c + p] * before[cell]);
      }
      d_token[p * width + j] = sum;
    });
    team.barrier();
    each_cell(team, Dv, Dk, [=, *this](int i, int j) {
      Real *s = dS + size_t(i) * row + j, sum = h.alpha[t] * *s;
      for (int p = 0; p < c; ++p) sum -= step(h, t, before, p) * along[i * c + p] * key(h, t, before, p)[j];
      *s = sum;
    });
    each(team, Dv, [=, *this](int i) { // a value's gradient is the sum over all steps whose window contains it
      Real *passed = dS + size_t(i) * row + Dk;
      const auto used = [=, *this](int p) { return step(h, t, before, p) * along[i * c + p]; };
      d.v[i] = used(past) + (past > 0 ? passed[past - 1] : Real(0));
      for (int p = past - 1; p >= 0; --p) passed[p] = used(p) + (p > 0 ? passed[p - 1] : Real(0));
    });
    each(team, row, [=, *this](int j) {
      Real *passed = dS + size_t(Dv) * row + j;
      const auto used = [=, *this](int p) { return j < width ? d_token[p * width + j] : Real(0); };
      const Real newest = used(past) + (past > 0 ? passed[size_t(past - 1) * row] : Real(0));
      if (j < Dk)
        d.k[j] = newest;
      else if (j == Dk)
        *d.beta = newest;
      for (int p = past - 1; p >= 0; --p)
        passed[size_t(p) * row] = used(p) + (p > 0 ? passed[size_t(p - 1) * row] : Real(0));
    });
    if (past == 0) once(team, [=] { *d.beta = d_token[Dk]; }); // there is no column of step sizes
  }
};

} // namespace recollect::variants
