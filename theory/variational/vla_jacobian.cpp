// SPDX-License-Identifier: Apache-2.0
// What 004 says of one step's Jacobian J = I - a k^T with unit a (write direction) and k (key): Proposition 2, its
// proof in Appendix A.2, and products of such steps (Corollaries 1 and 2). With c = a . k the exact singular values are
// (sqrt(5 - 4c) +- 1) / 2 and 1 (d - 2 times): their squares sum to 3 - 2c and their product is 1 - c.
#include "harness/numerics/statistics.hpp"
#include "theory/support/claims.hpp"
#include "theory/variational/unit_jacobian.hpp"

namespace recollect::theory {
namespace {

const Vector e1{1, 0};

/// Rounding of d-term products and of an SVD of a matrix of norm <= 2.
double svd_units(int d) { return 16.0 * d; }

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
          at(exact_point(growth, T * std::log(largest_stretch(c)), svd_units(2) * T * T, 0.1), "corrected", label));
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
        const UnitPair pair = unit_pair(d, c, Stream(p.seed, 72), 1000 + std::uint64_t(run) * T + t);
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
