// SPDX-License-Identifier: Apache-2.0
// The binomial(D + p - 1, p) features of vectors of D channels whose inner product is a power: phi(x) . phi(y) = (x .
// y)^p. Each feature is a product of p channels, times sqrt(p! / (m_1! ... m_D!)), where channel j occurs m_j times in
// the product.
#pragma once
#include "harness/device/math.hpp"
#include <cmath>

namespace recollect::variants {

constexpr int most_power = 6;

/// Calls f(factor, places) for every product x[places[0]] ... x[places[p-1]] of degree p; `places` is sorted.
template <class Real, class F> KOKKOS_FUNCTION void each_product(int D, int p, const F &f) {
  int at[most_power] = {};
  for (;;) {
    Real arrangements = 1; // p! / (m_1! m_2! ...)
    for (int a = 0, run = 0; a < p; ++a) {
      run = a > 0 && at[a] == at[a - 1] ? run + 1 : 1;
      arrangements *= Real(a + 1) / run;
    }
    f(math::sqrt(arrangements), at);
    int a = p - 1;
    while (a >= 0 && at[a] == D - 1) --a;
    if (a < 0) return;
    const int next = at[a] + 1;
    for (; a < p; ++a) at[a] = next;
  }
}
/// Binomial(D + p - 1, p), at most 2^30.
inline int power_features(int D, int p) {
  double n = 1;
  for (int a = 0; a < p; ++a) n = n * (D + a) / (a + 1);
  return int(std::fmin(n, 1 << 30));
}
/// The feature map, for map_features() of feature_map.hpp.
template <class Real> struct Power {
  int p;
  KOKKOS_FUNCTION void operator()(const Real *x, int D, Real *phi) const {
    const int p = this->p;
    each_product<Real>(D, p, [&](Real factor, const int *at) {
      for (int a = 0; a < p; ++a) factor *= x[at[a]];
      *phi++ = factor;
    });
  }
};
/// Backward pass of the map, for pull_features(): computes d_x from d_phi.
template <class Real> struct PowerPull {
  int p;
  KOKKOS_FUNCTION void operator()(const Real *x, int D, const Real *d_phi, Real *d_x) const {
    const int p = this->p;
    for (int j = 0; j < D; ++j) d_x[j] = 0;
    each_product<Real>(D, p, [&](Real factor, const int *at) {
      factor *= *d_phi++;
      for (int a = 0; a < p; ++a) {
        Real others = factor;
        for (int b = 0; b < p; ++b)
          if (b != a) others *= x[at[b]];
        d_x[at[a]] += others;
      }
    });
  }
};

} // namespace recollect::variants
