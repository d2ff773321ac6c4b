// SPDX-License-Identifier: Apache-2.0
// How many almost orthogonal keys fit (000 E.2).
//
// For random unit keys P(|k_i . k_j| > eps) <= 2 exp(-d eps^2 / 2). Hence, if d > 2 ln(n (n-1) / p) / eps^2, n such
// keys have a coherence below eps with probability above 1 - p. The coherence of any n unit vectors is at least
// sqrt((n-d) / (d (n-1))) (Welch 1974).
#pragma once
#include "theory/support/layer_points.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect::theory {
/// The width d of the bound above at eps = 1/8. With p = 1, at least one such set exists above it.
inline double random_width(double n, double p = 1) { return 2 * 64 * std::log(n * (n - 1) / p); }
inline double welch(double n, double d) { return std::sqrt((n - d) / (d * (n - 1))); }

/// P(|x . y| > eps) for independent directions; the density of c = x . y is proportional to (1 - c^2)^((d-3)/2).
inline double share_beyond(double eps, int d) {
  const double log_norm = std::lgamma(d / 2.0) - std::lgamma((d - 1) / 2.0) - 0.5 * std::log(M_PI);
  return 2 * integrate([&](double c) { return std::exp(log_norm + (d - 3) / 2.0 * std::log1p(-c * c)); }, eps, 1).value;
}

/// The share of the pairs of keys with |inner product| > eps, and the law for random directions. The indicators of two
/// pairs are independent, even if the pairs share a key, because the direction of that key does not matter.
struct PairsBeyond {
  Mean share;
  double law;
};
inline PairsBeyond pairs_beyond(const Dense &keys, double eps) {
  const Dense gram = keys * transpose(keys);
  double beyond = 0, pairs = 0;
  for (int i = 0; i < keys.rows; ++i)
    for (int j = 0; j < i; ++j) beyond += std::fabs(gram(i, j)) > eps, ++pairs;
  const double law = share_beyond(eps, keys.columns);
  return {{beyond / pairs, std::sqrt(law * (1 - law) / pairs)}, law};
}
} // namespace recollect::theory
