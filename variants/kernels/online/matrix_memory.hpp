// SPDX-License-Identifier: Apache-2.0
// A memory with the state A, a matrix, which is read as W(A). At every token, A takes one step against the gradient of
// a loss of the error e_t (the framework of Behrouz et al. 2025, arXiv:2504.13173):
//
//   e_t = v_t - W(A_{t-1}) k_t
//   A_t = alpha_t A_{t-1} + lr beta_t slope(e_t) k_t^T,   o_t = W(A_t) q_t
//
// A layer supplies the loss and the view W. Their functions contain the barriers that they need:
//   loss.slope(team, h, t, e, g)           g = slope(e) [Dv]
//   loss.pull(team, h, t, e, dg, de, d)    de from dg, and the gradients of those inputs that the loss reads
//   view.see(team, n, A, buffer)           returns W [Dv,Dk], in `buffer`, or A itself if W = A
//   view.pull(team, n, A, W, dW, dA)       adds to dA the gradient that W's gradient dW implies for A
#pragma once
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/common/recurrent_backward.hpp"

namespace recollect::variants {

/// Returns term(0) + ... + term(n-1). Partial sums are added at the end, because the rounding error of a single running
/// sum over a whole matrix would grow like sqrt(n). Barriers inside.
template <class Real, class Term> KOKKOS_FUNCTION Real total(const Team &team, int n, const Term &term) {
  constexpr int piece = 64;
  return reduce(
      team, (n - 1) / piece + 1, Real(0),
      [=](int p) {
        const int first = p * piece;
        return sum_of<Real>(n - first < piece ? n - first : piece, [=](int i) { return term(first + i); });
      },
      [](Real a, Real b) { return a + b; });
}

/// Returns x as a constant, without a derivative. Use it for a scale that cancels in the result: derivatives through
/// the scale would only add rounding errors.
template <class Real> KOKKOS_FUNCTION Real constant(Real x) { return Real(double(x)); }

/// W = A.
struct PlainView {
  template <class Real> KOKKOS_FUNCTION const Real *see(const Team &, int, const Real *A, Real *) const { return A; }
  template <class Real>
  KOKKOS_FUNCTION void pull(const Team &team, int n, const Real *, const Real *, const Real *dW, Real *dA) const {
    each(team, n, [=](int i) { dA[i] += dW[i]; });
  }
};

template <class Number, class Loss, class View> struct MatrixMemory {
  using Real = Number;
  int Dk, Dv;
  Real lr;
  Loss loss;
  View view;

  KOKKOS_FUNCTION int size() const { return Dv * Dk; }

  /// Writes A_t to `next`. Scratch: e and g [Dv].
  KOKKOS_FUNCTION void write(const Team &team, const Head<Real> &h, int t, const Real *W, const Real *A, Real *next,
                             Real *e) const {
    const int F = Dk;
    Real *const g = e + Dv;
    const Real *k = h.k(t), keep = h.alpha[t], step = lr * h.beta[t];
    errors(team, h, t, W, e, g);
    each(team, Dv, [=](int i) { g[i] *= step; });
    team.barrier();
    each_cell(team, Dv, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      next[cell] = keep * A[cell] + g[i] * k[j];
    });
  }
  /// Computes e [Dv], and g = slope(e) [Dv].
  KOKKOS_FUNCTION void errors(const Team &team, const Head<Real> &h, int t, const Real *W, Real *e, Real *g) const {
    const int F = Dk;
    each(team, Dv, [=](int i) { e[i] = h.v(t)[i] - dot(W + size_t(i) * F, h.k(t), F); });
    team.barrier();
    loss.slope(team, h, t, e, g);
    team.barrier();
  }

  /// The definition. Scratch: W [Dv,Dk], e and g [Dv].
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = Dk;
    Real *const buffer = h.work, *const e = buffer + size();
    const Real *W = view.see(team, size(), h.state, buffer);
    for (int t = 0; t < h.T; ++t) {
      write(team, h, t, W, h.state, h.state, e);
      team.barrier();
      W = view.see(team, size(), h.state, buffer);
      each(team, Dv, [=](int i) { h.o(t)[i] = dot(W + size_t(i) * F, h.q(t), F); });
      team.barrier();
    }
  }

  // For recurrent_vjp(). Scratch: W [Dv,Dk] before and after a step, dW [Dv,Dk], e, g, dg and de [Dv].
  KOKKOS_FUNCTION size_t scratch() const { return 3 * size_t(size()) + 4 * size_t(Dv); }
  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *buffer) const {
    write(team, h, t, view.see(team, size(), before, buffer), before, after, buffer + size());
  }
  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dA, const StepGradient<Real> &d, Real *buffer) const {
    const int F = Dk, V = Dv, n = size();
    const Real *k = h.k(t), *q = h.q(t), keep = h.alpha[t], rate = lr, step = lr * h.beta[t];
    Real *const dW = buffer + 2 * n, *const e = dW + n, *const g = e + V, *const along = g + V, *const de = along + V;
    const Real *const W = view.see(team, n, before, buffer), *const read = view.see(team, n, after, buffer + n);
    errors(team, h, t, W, e, g);
    each(team, F, [=](int j) { d.q[j] = d.k[j] = 0; });
    each_cell(team, V, F, [=](int i, int j) { dW[size_t(i) * F + j] = d.o[i] * q[j]; });
    team.barrier();
    view.pull(team, n, after, read, dW, dA);
    down_columns(team, V, F, [=](int i, int j) { d.q[j] += read[size_t(i) * F + j] * d.o[i]; });
    team.barrier();
    each(team, V, [=](int i) { along[i] = dot(dA + size_t(i) * F, k, F); });
    down_columns(team, V, F, [=](int i, int j) { d.k[j] += step * g[i] * dA[size_t(i) * F + j]; });
    team.barrier();
    const Real d_keep = total<Real>(team, n, [=](int i) { return dA[i] * before[i]; }),
               d_step = total<Real>(team, V, [=](int i) { return g[i] * along[i]; });
    once(team, [=] { *d.alpha = d_keep, *d.beta = rate * d_step; });
    team.barrier();
    each(team, V, [=](int i) { along[i] *= step; }); // `along` is dg from here on
    each(team, n, [=](int i) { dA[i] *= keep; });
    team.barrier();
    loss.pull(team, h, t, e, along, de, d);
    team.barrier();
    each(team, V, [=](int i) { d.v[i] = de[i]; });
    each_cell(team, V, F, [=](int i, int j) { dW[size_t(i) * F + j] = -de[i] * k[j]; });
    down_columns(team, V, F, [=](int i, int j) { d.k[j] -= W[size_t(i) * F + j] * de[i]; });
    team.barrier();
    view.pull(team, n, before, W, dW, dA);
  }
};

template <class Memory, class Real>
void train_matrix(const std::string &label, const Call<Real> &call, const Memory &memory) {
  each_head(label, call, memory.size() + 2 * size_t(call.shape.Dv), memory);
}

/// Descriptor fields that all layers with a matrix memory share.
inline Variant matrix_memory_variant() {
  Variant v;
  v.family = "online nonlinear";
  v.differs = "the memory is a matrix, and in the source a two-layer network; gates are the same for all channels";
  v.traits.linear_in_v = false;
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
