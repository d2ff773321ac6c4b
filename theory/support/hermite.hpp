// SPDX-License-Identifier: Apache-2.0
// Control variates for exponentials of Gaussian numbers: the first terms of their expansion in Hermite polynomials,
// whose moments are known.
#pragma once
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
/// s^n He_n(x) / n! for n = 1 ... order. Over x ~ N(0, 1) every term has mean 0 and mean square s^(2n) / n!, and two
/// different terms are uncorrelated. The sum over all n is exp(s x - s^2 / 2) - 1; the sum over even n with the signs -
/// + - ... is exp(s^2 / 2) cos(s x) - 1.
inline Vector hermite_terms(double s, double x, int order) {
  Vector terms;
  for (int n = 1; n <= order; ++n) {
    const double last = n > 1 ? terms[n - 2] : 1, before = n > 2 ? terms[n - 3] : n - 1;
    terms.push_back((s * x * last - s * s * before) / n);
  }
  return terms;
}
inline double summed(const Vector &terms) {
  double sum = 0;
  for (double term : terms) sum += term;
  return sum;
}
/// The mean square of term n over x ~ N(0, 1).
inline double hermite_square(double s, int n) { return std::pow(s, 2 * n) / std::tgamma(n + 1); }
} // namespace recollect::theory
