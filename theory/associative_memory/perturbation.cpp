// SPDX-License-Identifier: Apache-2.0
// How an error in the weights reaches u = A1^{-1} v and o = A2 u (000 Eq 51-52). Exactly,
//
//   (A + dA)^{-1} V - A^{-1} V = -(I + A^{-1} dA)^{-1} A^{-1} dA A^{-1} V,
//
// so with x = |A^{-1} dA| < 1 the first-order form is right up to factors 1/(1 + x) ... 1/(1 - x). Norms are spectral.
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

struct Case {
  Dense A, dA, V;
};

double change(const Case &c) { return spectral_norm(inverse(c.A + c.dA) * c.V - inverse(c.A) * c.V); }
double first_order(const Case &c) { return spectral_norm(inverse(c.A) * (c.dA * (inverse(c.A) * c.V))); }
double inverse_norm(const Case &c) { return spectral_norm(inverse(c.A)); }
double printed_bound(const Case &c) { return std::pow(inverse_norm(c), 2) * spectral_norm(c.dA) * spectral_norm(c.V); }
/// The printed bound over 1 - |A^{-1}| |dA|: strict wherever that is positive.
double strict_bound(const Case &c) { return printed_bound(c) / (1 - inverse_norm(c) * spectral_norm(c.dA)); }

/// I + strictly lower A [T,T] of a delta rule on unit keys, dA of spectral norm `size`, V [T,4].
Case delta_case(double size, bool lower, std::uint64_t seed) {
  const int T = 16, d = 8;
  Dense K(T, d, Stream(seed, 61).normals(T * d));
  const Dense gram = K * transpose(K);
  Case c{Dense::identity(T), Dense(T, T, Stream(seed, 62).normals(T * T)),
         Dense(T, 4, Stream(seed, 63).normals(T * 4))};
  for (int t = 0; t < T; ++t)
    for (int i = 0; i < T; ++i) {
      if (i < t) c.A(t, i) = gram(t, i) / std::sqrt(gram(t, t) * gram(i, i));
      if (lower && i >= t) c.dA(t, i) = 0;
    }
  c.dA = size / spectral_norm(c.dA) * c.dA;
  return c;
}

Params labelled(const std::string &quantity, double size) {
  Params p;
  return p.set("quantity", quantity).set("norm_dA", size);
}

/// Counter-example (tier paper), then the law of the first-order form and the strict bound.
std::vector<Point> perturbed_inverse(const Protocol &protocol, bool lower) {
  std::vector<Point> points;
  // A = 1, dA = -1/2 by 1 x 1 matrices; or A = I, dA = -1/2 below the diagonal, 3 x 3, where the square adds a third
  // entry.
  Case smallest{Dense(1, 1, {1}), Dense(1, 1, {-0.5}), Dense(1, 1, {1})};
  if (lower) smallest = {Dense::identity(3), Dense(3, 3, {0, 0, 0, -0.5, 0, 0, 0, -0.5, 0}), Dense::identity(3)};
  const double half = spectral_norm(smallest.dA), rounding = 64 * epsilon_of(Real::f64);
  points.push_back(at(bounded_point(change(smallest), Point::at_most, printed_bound(smallest), rounding, 0.01), "paper",
                      labelled("change against the printed bound", half)));
  points.push_back(at(bounded_point(change(smallest), Point::at_most, strict_bound(smallest), rounding, 0.01),
                      "corrected", labelled("change against the strict bound", half)));
  for (double size : {1e-2, 1e-3, 1e-4, 1e-5}) {
    const Case c = delta_case(size, lower, protocol.seed);
    const double x = spectral_norm(inverse(c.A) * c.dA), lost = 16 * 16 * std::pow(inverse_norm(c), 2) *
                                                                epsilon_of(Real::f64) /
                                                                size; // cancellation in the difference
    points.push_back(
        at(bounded_point(std::fabs(change(c) / first_order(c) - 1), Point::at_most, x / (1 - x), lost, 1e-3),
           lower ? "corrected" : "limit", labelled("|change / first order - 1|, at most x/(1-x)", size)));
    points.push_back(at(bounded_point(change(c) / strict_bound(c), Point::at_most, 1, lost, 1e-3), "corrected",
                        labelled("change over the strict bound", size)));
  }
  return points;
}

std::vector<Point> perturbed_product(const Protocol &protocol) {
  std::vector<Point> points;
  const Case c = delta_case(1, false, protocol.seed);
  for (double size : {1e-3, 1.0, 1e3}) {
    const Dense dA = size * c.dA;
    const double left = spectral_norm((c.A + dA) * c.V - c.A * c.V), right = spectral_norm(dA * c.V);
    const double units =
        16 * 16 * (spectral_norm(c.A) + size) * spectral_norm(c.V) / right; // T terms, relative to the result
    points.push_back(
        at(exact_point(left / right, 1, units, 1e-3), "exact", labelled("|(A + dA) U - A U| over |dA U|", size)));
    points.push_back(
        at(bounded_point(right / (size * spectral_norm(c.V)), Point::at_most, 1, units * epsilon_of(Real::f64), 1e-3),
           "exact", labelled("|dA U| over |dA| |U|", size)));
  }
  return points;
}

} // namespace

std::vector<Claim> perturbation() {
  Claim inverse = ledger_row(
      "eq51-perturbation", "000 Eq 51", "|(A + dA)^{-1} V - A^{-1} V| ~ |A^{-1} dA A^{-1} V| <= |A^{-1}|^2 |dA| |V|.",
      "First order, with ratio 1 + O(|dA|). As a strict inequality it fails (A = 1, dA = -1/2: 1 > 1/2); "
      "dividing by 1 - |A^{-1}| |dA| makes it strict.",
      [](const Protocol &p) { return perturbed_inverse(p, false); });
  inverse.expected = Verdict::holds_asymptotically;

  Claim lower = refuted_row(
      "eq51-strict-lower", Scope::boundary, "000 Eq 51, strictly lower triangular dA",
      "|(A + dA)^{-1} V - A^{-1} V| <= |A^{-1}|^2 |dA| |V| for the triangular matrices in use.",
      "Violated by A = I, dA = -1/2 below the diagonal of 3 x 3: the square of dA adds an entry. First order "
      "only, or over 1 - |A^{-1}| |dA|.",
      [](const Protocol &p) { return perturbed_inverse(p, true); });

  Claim product = ledger_row("eq52-perturbation", "000 Eq 52", "|(A2 + dA) U - A2 U| = |dA U| <= |dA| |U|.",
                             "For dA of any size.", perturbed_product);
  return {inverse, lower, product};
}

} // namespace recollect::theory
