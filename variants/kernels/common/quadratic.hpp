// SPDX-License-Identifier: Apache-2.0
// The D (D + 1) / 2 features whose inner product is a square: phi(x) . phi(y) = (x . y)^2.
#pragma once
#include "harness/device/math.hpp"

namespace recollect::variants {

KOKKOS_FUNCTION inline int quadratic_features(int D) { return D * (D + 1) / 2; }

/// out = factor (x_i^2 for all i, sqrt(2) x_i x_j for i < j). Inner products are factor^2 (x . y)^2.
template <class Real> KOKKOS_FUNCTION void quadratic(const Real *x, int D, Real factor, Real *out) {
  const Real mixed = factor * math::sqrt(Real(2));
  for (int i = 0; i < D; ++i) {
    *out++ = factor * x[i] * x[i];
    for (int j = i + 1; j < D; ++j) *out++ = mixed * x[i] * x[j];
  }
}

/// Adds to d_x the gradient with respect to x, given the gradient with respect to the features.
template <class Real>
KOKKOS_FUNCTION void add_quadratic_pull(const Real *x, int D, Real factor, const Real *d_phi, Real *d_x) {
  const Real mixed = factor * math::sqrt(Real(2));
  for (int i = 0; i < D; ++i) {
    d_x[i] += 2 * factor * x[i] * *d_phi++;
    for (int j = i + 1; j < D; ++j, ++d_phi) d_x[i] += mixed * x[j] * *d_phi, d_x[j] += mixed * x[i] * *d_phi;
  }
}

} // namespace recollect::variants
