// SPDX-License-Identifier: Apache-2.0
// The Gaussian kernel exp(-|q - k|^2 / bandwidth), exactly and through landmarks (Nystrom 1930; Williams and Seeger
// 2001):
//
//   kappa(q, k) ~ kappa(q, L) G^{-1} kappa(L, k) = f(q) . f(k),   G = kappa(L, L) + ridge I
//   f(x) = R^{-1} kappa(L, x),   R R^T = G
//
// where L are m landmarks. The attention thus becomes linear attention over m features.
#pragma once
#include "variants/kernels/attention/attention.hpp"
#include "variants/kernels/common/arrays.hpp"
#include <cmath>

namespace recollect::variants {

/// The definition, from squared distances.
template <class Real> struct GaussianByDistance {
  Real bandwidth;
  int T, width;
  Array<Real> q, k;
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real) const {
    Real square = 0;
    for (int c = 0; c < width; ++c) {
      const Real d = q((head * T + t) * width + c) - k((head * T + i) * width + c);
      square += d * d;
    }
    return math::exp(-square / bandwidth);
  }
};

template <class Real> Array<Real> squared_lengths(const Call<Real> &call, const Array<Real> &rows, int width) {
  const Array<Real> squares = allocate(call, rows.extent(0) / width);
  parallel_loop(
      "gaussian::squares", squares.extent(0),
      KOKKOS_LAMBDA(size_t i) { squares(i) = dot(rows.data() + i * width, rows.data() + i * width, width); });
  return squares;
}

/// Computes the kernel from the inner product, by |q - k|^2 = |q|^2 + |k|^2 - 2 q.k. Returns the logit if `as_logit`,
/// else the kernel's value.
template <class Real, bool as_logit> struct GaussianByProduct {
  Real bandwidth;
  int T;
  Array<Real> qq, kk; // [heads,T]
  KOKKOS_FUNCTION bool normalised() const { return as_logit; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real qk) const {
    const Real logit = (2 * qk - qq(head * T + t) - kk(head * T + i)) / bandwidth;
    return as_logit ? logit : math::exp(logit);
  }
};

inline double bandwidth_of(const Params &params, const Shape &shape) {
  return params.real_or("bandwidth", 2 * std::sqrt(double(shape.Dk)));
}
template <class Real> Real bandwidth_param(const Call<Real> &call) {
  return Real(bandwidth_of(call.params, call.shape));
}
inline ParamSpec bandwidth_spec() {
  return tuned(automatic_param("bandwidth", "2 sqrt(Dk)", std::numeric_limits<double>::min(), no_limit,
                               "$B$ in $exp(-|q - k|^2 / B)$"),
               {1, 0.25, 0.0625});
}

template <class Real> void gaussian_recurrent(const std::string &label, const Call<Real> &c) {
  attend_one_by_one(label, c, GaussianByDistance<Real>{bandwidth_param(c), c.shape.T, c.shape.Dk, c.q, c.k});
}
template <class Real, bool as_logit> GaussianByProduct<Real, as_logit> gaussian_by_product(const Call<Real> &c) {
  return {bandwidth_param(c), c.shape.T, squared_lengths(c, c.q, c.shape.Dk), squared_lengths(c, c.k, c.shape.Dk)};
}
template <class Real> void gaussian_parallel(const std::string &label, const Call<Real> &c);
/// o_t = sum_{i<=t} f(q_t).f(k_i) v_i.
template <class Real> void nystrom(const std::string &label, Call<Real> call, const Array<Real> &landmarks, int m);

} // namespace recollect::variants
