// SPDX-License-Identifier: Apache-2.0
// What 004 says of one step's Jacobian J = I - a k^T with unit a (write direction) and k (key): Proposition 2, its
// proof in Appendix A.2, and products of such steps (Corollaries 1 and 2). With c = a . k the exact singular values are
// (sqrt(5 - 4c) +- 1) / 2 and 1 (d - 2 times): their squares sum to 3 - 2c and their product is 1 - c.
#include "harness/numerics/statistics.hpp"
#include "theory/support/claims.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {

double largest(double c) { return (std::sqrt(5 - 4 * c) + 1) / 2; }
double smallest(double c) { return std::fabs(std::sqrt(5 - 4 * c) - 1) / 2; }

struct UnitPair {
  Vector a, k;
};

/// Unit a and k with a . k = c, in a random orientation of R^d; draw number `index`.
UnitPair unit_pair(int d, double c, std::uint64_t seed, std::uint64_t index) {
  Vector k = Stream(seed, 71).normals(d, index * d), side = Stream(seed, 72).normals(d, index * d);
  k = combine(1 / norm(k), k, 0, k);
  for (int pass = 0; pass < 2; ++pass) side = unit(combine(1, side, -inner(side, k), k)); // twice: the first may cancel
  return {combine(c, k, std::sqrt(1 - c * c), side), k};
}

const Vector e1{1, 0}, e2{0, 1};
const double golden = (1 + std::sqrt(5.0)) / 2;

/// Rounding of d-term products and of an SVD of a matrix of norm <= 2.
double svd_units(int d) { return 16.0 * d; }

std::vector<Point> unit_jacobian(const Protocol &p) {
  std::vector<Point> points{at(exact_point(spectral_norm(vla_jacobian_of(e2, e1)), 1, svd_units(2), 0.01), "paper",
                               labels({{"d", num(2)}, {"c", num(0)}}))};
  int draw = 0;
  for (int d : {2, 5, 32})
    for (double c : {-1.0, -0.5, 0.0, 0.3, 0.9, 1.0}) {
      const UnitPair pair = unit_pair(d, c, p.seed, draw++);
      const Vector values = singular_values(vla_jacobian_of(pair.a, pair.k));
      const Params label = labels({{"d", num(d)}, {"c", num(c)}});
      points.push_back(at(exact_point(values.front(), largest(c), svd_units(d), 0.01), "exact", label));
      // At c = 1 the value is 0 and its square-root formula loses half the digits of c.
      points.push_back(at(exact_point(values.back(), smallest(c), svd_units(d), 0.01), "exact", label));
    }
  return points;
}

std::vector<Point> eq22(const Protocol &p) {
  const auto left = [](double a, double b) { return 1 - 2 * a * b + a * a; };
  const auto corrected = [](double a, double b) { return (1 - a * b) * (1 - a * b) + a * a * (1 - b * b); };
  std::vector<Point> points{
      at(exact_point(left(0, 1), corrected(0, 1) - 1, 4, 0.5), "paper", labels({{"a", num(0)}, {"b", num(1)}}))};
  for (int i = 0; i < 8; ++i) {
    const double a = Stream(p.seed, 73).normal(i), b = Stream(p.seed, 74).normal(i);
    const double size = 1 + std::fabs(2 * a * b) + a * a + a * a * b * b;
    points.push_back(at(exact_point(left(a, b), corrected(a, b), 8 * size, 0.01), "corrected",
                        labels({{"a", num(a)}, {"b", num(b)}})));
  }
  return points;
}

std::vector<Point> proof_at_k(const Protocol &p) {
  std::vector<Point> points;
  for (double c : {0.0, 0.5, -0.5}) {
    const UnitPair pair = unit_pair(6, c, p.seed, 100);
    const Vector jk = times(vla_jacobian_of(pair.a, pair.k), pair.k);
    points.push_back(at(exact_point(inner(jk, jk), (1 - c) * (1 - c), 64, 0.01), "paper", labels({{"c", num(c)}})));
    points.push_back(at(exact_point(inner(jk, jk), 2 - 2 * c, 64, 0.01), "corrected", labels({{"c", num(c)}})));
  }
  return points;
}

std::vector<Point> eigenvectors(const Protocol &p) {
  std::vector<Point> points;
  for (double c : {0.0, 0.4, -0.7}) {
    const UnitPair pair = unit_pair(5, c, p.seed, 101);
    const Dense J = vla_jacobian_of(pair.a, pair.k);
    const auto residual = [&](const Vector &x) { return norm(combine(1, times(J, x), -(1 - c), x)); };
    points.push_back(
        at(exact_point(residual(pair.k), 0, 64, 0.01), "paper", labels({{"c", num(c)}, {"vector", txt("k")}})));
    points.push_back(
        at(exact_point(residual(pair.a), 0, 64, 0.01), "corrected", labels({{"c", num(c)}, {"vector", txt("a")}})));
    // The eigenvalues themselves are right: 1 on the complement of k, and trace d - c leaves 1 - c.
    points.push_back(
        at(exact_point(trace(J), 5 - c, 64, 0.01), "exact", labels({{"c", num(c)}, {"vector", txt("trace")}})));
  }
  return points;
}

std::vector<Point> special_cases(const Protocol &) {
  const auto point = [](double measured, double predicted, const char *tier, const char *what) {
    return at(exact_point(measured, predicted, svd_units(2), 0.01), tier, labels({{"case", txt(what)}}));
  };
  const double same = spectral_norm(vla_jacobian_of(e1, e1)), right_angle = spectral_norm(vla_jacobian_of(e2, e1)),
               opposite = spectral_norm(vla_jacobian_of({-1, 0}, e1));
  return {point(same, 2, "paper", "u = v"), point(right_angle, 1, "paper", "u orthogonal to v"),
          point(same, 1, "corrected", "u = v"), point(right_angle, golden, "corrected", "u orthogonal to v"),
          point(opposite, 2, "corrected", "u = -v")};
}

/// Turns each step so that what the last one stretched most is what the next one stretches most: |product| =
/// sigma_max^T.
Dense aligned_product(double c, int T) {
  Vector a{c, std::sqrt(1 - c * c)}, k = e1;
  // Right singular vector of J for sigma_max: dominant eigenvector of J^T J, by its 2 x 2 closed form.
  const Dense J = vla_jacobian_of(a, k), G = transpose(J) * J;
  const double theta = 0.5 * std::atan2(2 * G(0, 1), G(0, 0) - G(1, 1));
  const Vector right{std::cos(theta), std::sin(theta)}, image = times(J, right);
  const double turn = std::atan2(image[1], image[0]) - theta;
  const Dense R(2, 2, {std::cos(turn), -std::sin(turn), std::sin(turn), std::cos(turn)});
  Dense product = Dense::identity(2);
  for (int t = 0; t < T; ++t) {
    product = vla_jacobian_of(a, k) * product;
    a = times(R, a), k = times(R, k);
  }
  return product;
}

std::vector<Point> product_norm(const Protocol &) {
  std::vector<Point> points;
  for (double c : {0.0, 0.5, -0.5})
    for (int T : {10, 50}) {
      const double growth = std::log(spectral_norm(aligned_product(c, T)));
      const Params label = labels({{"c", num(c)}, {"T", num(T)}});
      points.push_back(at(bounded_point(growth, Point::at_most, 0, svd_units(2) * T * 2.3e-16, 0.1), "paper", label));
      // Each of T products of norm <= 2 adds a few units to the logarithm; the angle of turning is used T times.
      points.push_back(
          at(exact_point(growth, T * std::log(largest(c)), svd_units(2) * T * T, 0.1), "corrected", label));
    }
  return points;
}

std::vector<Point> random_products(const Protocol &p) {
  std::vector<Point> points;
  const int d = 8, T = 12;
  for (double c : {0.0, 0.5, 1.0}) {
    const int runs = p.full() ? 200000 : 40000;
    Vector squares(runs);
    for (int run = 0; run < runs; ++run) {
      Vector x(d);
      x[0] = 1;
      for (int t = 0; t < T; ++t) {
        const UnitPair pair = unit_pair(d, c, p.seed, 1000 + std::uint64_t(run) * T + t);
        x = combine(1, x, -inner(pair.k, x), pair.a);
      }
      squares[run] = inner(x, x);
    }
    const Mean mean = mean_of(squares);
    const double law = std::pow(1 + (1 - 2 * c) / d, T);
    const Params label = labels({{"c", num(c)}, {"d", num(d)}, {"T", num(T)}});
    if (c != 0.5) points.push_back(at(sampled_point(mean.mean, 1, mean.standard_error, 0.25 * law), "paper", label));
    points.push_back(at(sampled_point(mean.mean, law, mean.standard_error, 0.25 * law), "corrected", label));
  }
  return points;
}

std::vector<Point> kantorovich(const Protocol &p) {
  std::vector<Point> points;
  for (double kappa : {1.0, 4.0, 100.0}) {
    const double bound = 2 * std::sqrt(kappa) / (1 + kappa);
    const Params label = labels({{"kappa", num(kappa)}});
    // diag(1, kappa): the extremal key has squares kappa / (1 + kappa) and 1 / (1 + kappa).
    const Vector extremal{std::sqrt(kappa / (1 + kappa)), std::sqrt(1 / (1 + kappa))};
    const auto cosine = [&](const Vector &k) {
      const Vector ak{k[0], kappa * k[1]};
      return inner(k, ak) / norm(ak) / norm(k);
    };
    points.push_back(at(exact_point(cosine(extremal), bound, 64, 0.005), "exact", label));
    double least = 1;
    for (int i = 0; i < 400; ++i) least = std::min(least, cosine(Stream(p.seed, 75).normals(2, 2 * i)));
    points.push_back(at(bounded_point(least, Point::at_least, bound, 64 * 2.3e-16, 0.005), "bound", label));
  }
  return points;
}

} // namespace

std::vector<Claim> vla_jacobian() {
  return {
      refuted_row("vla-prop2-unit-jacobian", Scope::paper, "004 Proposition 2, Eq 14, 23",
                  "|I - a k^T|_2 = 1 for all unit a and k.",
                  "The norm is (1 + sqrt(5 - 4c)) / 2 with c = a.k: 1 only at c = 1, the golden ratio at c = 0, 2 at c "
                  "= -1. Smallest "
                  "counter-example: d = 2, k = e1, a = e2.",
                  unit_jacobian),
      refuted_row("vla-eq22-identity", Scope::paper, "004 Appendix A.2, Eq 22",
                  "1 - 2ab + a^2 = (1-ab)^2 + a^2(1-b^2) - b^2(1-a^2).",
                  "The last term does not belong: 1 - 2ab + a^2 = (1-ab)^2 + a^2(1-b^2). At a = 0, b = 1 the printed "
                  "right side is 0, the left 1.",
                  eq22),
      refuted_row("vla-prop2-proof-x-eq-k", Scope::paper, "004 Appendix A.2, first case",
                  "At x = k, |Jk|^2 = (1 - b)^2.",
                  "|Jk|^2 = |k - a|^2 = 2 - 2c, which equals (1 - c)^2 only at c = 1 and c = -1.", proof_at_k),
      refuted_row(
          "vla-prop2-eigenvalues", Scope::paper, "004 Proposition 2, proof",
          "J has eigenvalue 1 - k.a in the direction k.",
          "The eigenvalues 1 (d - 1 times) and 1 - c are right; the eigenvector of 1 - c is a, while J k = k - a.",
          eigenvectors),
      refuted_row("vla-appa2-special-cases", Scope::paper, "004 Appendix A.2",
                  "sigma_max is 1 + |u.v| for u = v and 1 for orthogonal u, v.",
                  "The other way round: u = v gives a projector of norm 1, orthogonal vectors give the golden ratio, u "
                  "= -v gives 2.",
                  special_cases),
      refuted_row("vla-cor2-product-norm", Scope::paper, "004 Corollaries 1 and 2",
                  "A product of Jacobians has spectral norm at most 1.",
                  "The sharp bound is the product of (1 + sqrt(5 - 4 c_t)) / 2: turning each step to meet the last "
                  "attains it, 1.618^50 = 2.8e10 at c = 0.",
                  product_norm),
      refuted_row("vla-random-product-law", Scope::paper, "004 Corollaries 1 and 2",
                  "Gradients neither explode nor vanish.",
                  "Under random orientations E|P_T x|^2 = (1 + (1-2c)/d)^T |x|^2: explodes for c < 1/2, vanishes for c "
                  "> 1/2, at c = 1 as (1 - 1/d)^T.",
                  random_products),
      ledger_row("vla-c-kantorovich", "004 Proposition 2 with Eq 9 (derived)",
                 "For symmetric positive definite A of condition kappa, a = Ak/|Ak| keeps a.k away from 0.",
                 "min a.k = 2 sqrt(kappa) / (1 + kappa), attained in the plane of the extreme eigenvectors; hence |J| "
                 "<= (1 + sqrt(5 - 4 min c)) / 2.",
                 kantorovich),
  };
}

} // namespace recollect::theory
