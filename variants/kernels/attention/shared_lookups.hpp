// SPDX-License-Identifier: Apache-2.0
// Lookups that the H heads of a sequence share (000 Eq 111 and E.4). All heads h erase with the same weights A_ti:
//
//   A_ti = 1/H sum_h beta^h_t kappa1(k^h_i, w^h_t),   u^h_t = alpha^h_t v^h_t - sum_{i<t} A_ti u^h_i
//
// so that heads with the same keys and values are one memory with H lookups into it. delta_former.hpp treats A like any
// other kernel, with step sizes of 1. Let e^h_t be the gradient of u^h_t (delta_former_backward.hpp), and let a_ti be
// the gradient of A_ti divided by H. Then
//
//   a_ti = -1/H sum_h e^h_t . u^h_i,   dbeta^h_t = sum_i a_ti kappa1(k^h_i, w^h_t)
//   dz^h_ti = a_ti beta^h_t slope^h_ti,   dw^h_t = sum_i dz^h_ti k^h_i,   dk^h_i += sum_t dz^h_ti w^h_t
//
// If kappa1 is a softmax over i < t, dz^h_ti = (a_ti - dbeta^h_t) beta^h_t kappa1(k^h_i, w^h_t) scale / tau.
#pragma once
#include "variants/kernels/attention/delta_former_backward.hpp"
#include "variants/kernels/attention/similarity.hpp"

namespace recollect::variants {

template <class Real> struct SharedLookups {
  static constexpr bool costly = true; // not supported by attention_cuda.hpp
  AnyKernel<Real> kernel;
  Rows<Real> w, k;
  Array<Real> beta;
  int heads;
  Array<Real> log_mass; // [heads,T] log of the softmax denominator; empty for kernels without a softmax
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION size_t first_of(size_t head) const { return head / heads * heads; } // head 0 of the same sequence
  KOKKOS_FUNCTION Real strength(size_t head, int t) const { return beta(head * w.count + t) / heads; }
  KOKKOS_FUNCTION Real inner(size_t head, int t, int i) const { return dot(k.at(head, i), w.at(head, t), k.width); }
  /// kappa1(k_i, w_t) of this head, from the inner product z.
  KOKKOS_FUNCTION Real weight(size_t head, int t, int i, Real z) const {
    const Real p = kernel(head, t, i, z);
    return kernel.normalised() ? math::exp(p - log_mass(head * w.count + t)) : p;
  }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real) const {
    Real sum = 0;
    const size_t first = first_of(head);
    for (size_t h = first; h < first + heads; ++h) sum += strength(h, t) * weight(h, t, i, inner(h, t, i));
    return sum;
  }
};

/// Computes the logs of the softmax denominators. Row t of a head sums over the keys i < t; row 0 has no keys.
template <class Real> struct LookupMasses {
  SharedLookups<Real> lookups;
  KOKKOS_FUNCTION void operator()(size_t row) const {
    const size_t T = lookups.w.count, head = row / T;
    const int t = int(row % T);
    const auto logit = [&](int i) { return lookups.kernel(head, t, i, lookups.inner(head, t, i)); };
    Real peak = t ? logit(0) : Real(0), mass = 0;
    for (int i = 1; i < t; ++i)
      if (const Real l = logit(i); l > peak) peak = l;
    for (int i = 0; i < t; ++i) mass += math::exp(logit(i) - peak);
    lookups.log_mass(row) = log_mass(peak, mass);
  }
};

template <class Real> SharedLookups<Real> shared_lookups(const Call<Real> &call, const AnyKernel<Real> &kernel) {
  const Shape &s = call.shape;
  SharedLookups<Real> lookups{kernel, rows_of(call.w, s, s.Dk), rows_of(call.k, s, s.Dk), call.beta, s.H, {}};
  if (kernel.normalised()) {
    lookups.log_mass = allocate(call, call.steps());
    parallel_loop("delta_former::lookup_masses", call.steps(), LookupMasses<Real>{lookups});
  }
  return lookups;
}

/// The call with beta = 1, since the lookups already include beta.
template <class Real> Call<Real> whole_steps(Call<Real> call) {
  call.beta = filled(call, call.steps(), Real(1));
  return call;
}

/// Computes dw of one step, and adds to dk of the same step. If kappa1 is a softmax, reads d_beta, which
/// StrengthGradients has computed; otherwise writes d_beta.
template <class Real> struct SharedGradients {
  SharedLookups<Real> lookups;
  Rows<Real> u, e;
  Rows<Real> d_w, d_k;
  Array<Real> d_beta;

  KOKKOS_FUNCTION Real of_weight(size_t head, int t, int i) const { // H a_ti
    Real sum = 0;
    const size_t first = lookups.first_of(head);
    for (size_t h = first; h < first + lookups.heads; ++h) sum -= dot(e.at(h, t), u.at(h, i), u.width);
    return sum;
  }
  /// Adds dz_ti x to dx; returns a_ti kappa1(k_i, w_t).
  KOKKOS_FUNCTION Real add(size_t head, int t, int i, const Real *x, Real *dx) const {
    const AnyKernel<Real> &kernel = lookups.kernel;
    const Real asked = of_weight(head, t, i), z = lookups.inner(head, t, i), p = lookups.weight(head, t, i, z),
               above = kernel.normalised() ? p * (asked - lookups.heads * d_beta(head * d_w.count + t)) : asked,
               dz = above * lookups.strength(head, t) * kernel.slope(head, t, i, z, p);
    for (int c = 0; c < d_w.width; ++c) dx[c] += dz * x[c];
    return asked * p / lookups.heads;
  }
  KOKKOS_FUNCTION void operator()(size_t row) const {
    const size_t T = d_w.count, head = row / T;
    const int at = int(row % T);
    Real *const dw = d_w.at(head, at);
    Real sum = 0;
    for (int c = 0; c < d_w.width; ++c) dw[c] = 0;
    for (int i = 0; i < at; ++i) sum += add(head, at, i, lookups.k.at(head, i), dw);
    if (!lookups.kernel.normalised()) d_beta(row) = sum;
    for (int t = at + 1; t < int(T); ++t) add(head, t, at, lookups.w.at(head, t), d_k.at(head, at));
  }
};

/// Computes d_beta of one step.
template <class Real> struct StrengthGradients {
  SharedGradients<Real> gradients;
  KOKKOS_FUNCTION void operator()(size_t row) const {
    const SharedLookups<Real> &lookups = gradients.lookups;
    const size_t T = lookups.w.count, head = row / T;
    const int t = int(row % T);
    Real sum = 0;
    for (int i = 0; i < t; ++i)
      sum += gradients.of_weight(head, t, i) * lookups.weight(head, t, i, lookups.inner(head, t, i));
    gradients.d_beta(row) = sum / lookups.heads;
  }
};

/// write_vjp() for shared lookups. `back.call.beta` is the layer's own beta; solve_back() gets beta = 1, because the
/// lookups already include beta.
template <class Real>
void write_vjp(const std::string &label, const BackwardCall<Real> &back, const SharedLookups<Real> &lookups,
               const Array<Real> &u, const Array<Real> &e) {
  const Shape &s = back.call.shape;
  solve_back(label, whole_steps(back.call), lookups, {}, e);
  write_gradients(label, back, e);
  const SharedGradients<Real> gradients{
      lookups,    rows_of(u, s, s.Dv), rows_of(e, s, s.Dv), rows_of(back.d.w, s, s.Dk), rows_of(back.d.k, s, s.Dk),
      back.d.beta};
  if (lookups.kernel.normalised())
    parallel_loop(label + "::strengths", back.call.steps(), StrengthGradients<Real>{gradients});
  parallel_loop(label + "::lookups", back.call.steps(), gradients);
}

} // namespace recollect::variants
