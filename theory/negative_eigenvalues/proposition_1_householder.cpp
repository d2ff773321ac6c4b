// SPDX-License-Identifier: Apache-2.0
// 2411.12537 Proposition 1: what products of generalised Householder matrices can be. The products are DeltaNet's.
#include "harness/core/error.hpp"
#include "theory/negative_eigenvalues/householder.hpp"
#include <numeric>

namespace recollect::theory {
namespace {

// ---- 1: the norm ------------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> sizes{integer_param("n", 6, 2, 32, "width"),
                                   integer_param("factors", 4, 1, 32, "factors of a product")};

std::vector<Point> norms(const Protocol &protocol) {
  const Params p = point_of(protocol, sizes);
  const int n = p.integer("n"), k = p.integer("factors"), draws = 20;
  const double units = 32.0 * n * k;
  const auto largest = [&](int factors, double low, double high, double length) {
    double most = 0;
    for (int i = 0; i < draws; ++i) {
      std::vector<Householder> all = random_factors(factors, n, low, high, protocol.seed, "householder", i);
      for (Householder &f : all)
        for (double &c : f.x) c *= length;
      most = std::max(most, spectral_norm(product(all)));
    }
    return most;
  };
  const auto bound = [&](double norm) { return at_most_point(norm, 1, units * epsilon_of(Real::f64)); };
  const auto one = [&](double beta, double length) { // a single factor: max(1, |1 - beta length^2|)
    return exact_point(largest(1, beta, beta, length), std::max(1.0, std::fabs(1 - beta * length * length)), units);
  };
  return {as_statement(bound(largest(k, 0, 2, 1)), p, "largest norm of 20 products, beta in [0, 2]"),
          as_statement(bound(largest(k, 2, 2, 1)), p, "largest norm of 20 products, beta = 2"),
          as_obligation(one(1.7, 1), p, "one factor, beta = 1.7"),
          as_obligation(one(2, 1.3), p, "one factor, |k| = 1.3: |1 - beta |k|^2|"),
          rival_law(one(2, 1.3), "norm 1 for any key", 1),
          rival_system(bound(largest(1, 2.1, 2.1, 1)), p, "beta = 2.1"),
          rival_system(bound(largest(1, 2, 2, 1.3)), p, "keys of length 1.3")};
}

Claim householder_norm() {
  return explained(
      at_parameters(running(ledger_row("householder-norm", "2411.12537 Proposition 1.1",
                                       "A product of factors $I - beta v v^T$ with unit v and beta in "
                                       "$[0, 2]$ has a norm of at most 1.",
                                       "Each factor has the norm $max(1, |1 - beta |v|^2|)$; the bound needs "
                                       "$beta |v|^2 <= 2$.",
                                       norms),
                            {"delta_net"}),
                    sizes),
      "The norm of a product is at most the product of the norms.");
}

// ---- 2: permutations --------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> elements{integer_param("n", 5, 3, 10, "elements")};

Dense matrix_of(const std::vector<int> &permutation) { // column j has its 1 in row permutation[j]
  Dense P(int(permutation.size()), int(permutation.size()));
  for (int j = 0; j < P.columns; ++j) P(permutation[j], j) = 1;
  return P;
}
int rank_of(const Dense &A) {
  int rank = 0;
  for (double s : singular_values(A)) rank += s > 1e-6;
  return rank;
}

std::vector<Point> permutations(const Protocol &protocol) {
  const Params p = point_of(protocol, elements);
  const int n = p.integer("n");
  std::vector<int> ring(n); // 0 -> 1 -> ... -> 0
  for (int i = 0; i < n; ++i) ring[i] = (i + 1) % n;
  const Dense cycle = matrix_of(ring), identity = Dense::identity(n);
  const double units = 32.0 * n;
  Vector made, wanted;
  for (int i = 0; i < 20; ++i) {
    const std::vector<int> drawn = Stream(protocol.seed, "householder/permutation", i).permutation(n);
    const Dense P = product(swaps_of(drawn));
    made.insert(made.end(), P.data.begin(), P.data.end());
    const Vector &expected = matrix_of(drawn).data;
    wanted.insert(wanted.end(), expected.begin(), expected.end());
  }
  const auto all = [&](const std::vector<Householder> &factors) {
    return exact_point(product(factors).data, cycle.data, units);
  };
  std::vector<Householder> swaps = swaps_of(ring), fewer = swaps, weaker = swaps;
  fewer.pop_back();
  for (Householder &f : weaker) f.beta = 1.9;
  // Each factor changes I by rank 1: a product of j factors differs from I by a rank of at most j.
  const auto rank = [&](int factors) {
    return exact_point(rank_of(identity - product(random_factors(factors, n, 2, 2, protocol.seed, "householder/rank"))),
                       factors, 1);
  };
  return {as_statement(exact_point(made, wanted, units), p, "20 permutations, n - 1 factors each"),
          as_statement(all(swaps), p, "the cycle of all n"),
          as_obligation(exact_point(rank_of(identity - cycle), n - 1, 1), p, "rank of I - the cycle: n - 1 are needed"),
          as_obligation(rank(n - 2), p, "rank of I - a product of n - 2 reflections"),
          rival_law(product(swaps).data, p, "the inverse cycle", transpose(cycle).data, units),
          rival_law(exact_point(rank_of(identity - cycle), n - 2, 1), p, "n - 2 are needed"),
          rival_system(all(fewer), p, "n - 2 of the factors"),
          rival_system(all(weaker), p, "beta = 1.9")};
}

Claim permutation_reflections() {
  return explained(
      at_parameters(running(ledger_row("permutation-reflections", "2411.12537 Proposition 1.2",
                                       "A permutation matrix of n elements is a product of $n - 1$ factors "
                                       "$I - beta v v^T$, $|v| = 1$, each a reflection or the identity.",
                                       "A swap of i and j is the reflection at $(e_i - e_j)/sqrt(2)$. The cycle "
                                       "of all n elements needs $n - 1$: it differs from I by that rank.",
                                       permutations),
                            {"delta_net"}),
                    elements),
      "That no fewer suffice is not said there; a product of j factors differs from I by a rank of at most j.");
}

// ---- 3: eigenvalues ---------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> plane{real_param("angle", 60, 1, 89, "degrees between the two keys"),
                                   real_param("beta", 0.7, 0.01, 1, "write strength of both")};

struct Eigenvalues {
  double discriminant, smallest, largest; // of a 2 x 2 matrix; real parts where the discriminant is below 0
};
Eigenvalues eigenvalues(const Dense &A) {
  const double half = trace(A) / 2, determinant = A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0),
               discriminant = half * half - determinant, root = std::sqrt(std::max(0.0, discriminant));
  return {discriminant, half - root, half + root};
}

std::vector<Point> two_factors(const Protocol &protocol) {
  const Params p = point_of(protocol, plane);
  const double angle = p.real("angle") * pi / 180, beta = p.real("beta"), rounding = 64 * epsilon_of(Real::f64);
  const auto of = [&](int factors, double step, double beta) {
    std::vector<Householder> all;
    for (int i = 0; i < factors; ++i) all.push_back({at_angle(i * step), beta});
    return eigenvalues(product(all));
  };
  const Eigenvalues two = of(2, angle, beta), three = of(3, pi / 3, 1), turned = of(2, pi / 3, 2);
  // trace 2 - 2 beta + beta^2 cos^2, determinant (1 - beta)^2
  const double half = (2 - 2 * beta + std::pow(beta * std::cos(angle), 2)) / 2,
               discriminant = half * half - std::pow(1 - beta, 2);
  const auto real = [&](const Eigenvalues &e) { return at_least_point(e.discriminant, 0, rounding); };
  const auto positive = [&](const Eigenvalues &e) { return at_least_point(e.smallest, 0, std::sqrt(rounding)); };
  return {as_statement(real(two), p, "discriminant of two factors"),
          as_statement(positive(two), p, "smaller eigenvalue of two factors"),
          as_statement(at_most_point(two.largest, 1, std::sqrt(rounding)), p, "larger eigenvalue of two factors"),
          as_obligation(exact_point(two.discriminant, discriminant, 64), p, "discriminant, in closed form"),
          as_obligation(exact_point(three.smallest, -0.125, 64), p, "three factors, beta = 1, 60 degrees apart: -1/8"),
          rival_law(exact_point(two.discriminant, 0, 64), p, "a double eigenvalue"),
          rival_system(positive(three), p, "three factors, 60 degrees apart, beta = 1: smaller eigenvalue"),
          rival_system(real(turned), p, "two factors, beta = 2: discriminant")};
}

Claim two_factors_stay_positive() {
  return explained(
      at_parameters(
          running(ledger_row("two-factors-stay-positive", "2411.12537 Proposition 1.3",
                             "A product of at most two factors $I - beta v v^T$ with unit v and beta in $[0, 1]$ "
                             "has all its eigenvalues in $[0, 1]$.",
                             "In the plane: trace $2 - 2 beta + beta^2 cos^2$, determinant $(1 - beta)^2$. Three "
                             "factors are too many: beta = 1 and keys 60 degrees apart give $-1/8$.",
                             two_factors),
                  {"delta_net"}),
          plane),
      "The paper states the bound on the number of factors; the three projections show that it cannot be left out.");
}

} // namespace

std::vector<Claim> proposition_1_householder() {
  return {householder_norm(), permutation_reflections(), two_factors_stay_positive()};
}

} // namespace recollect::theory
