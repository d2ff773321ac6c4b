// SPDX-License-Identifier: Apache-2.0
// 2411.12537 Proposition 1: which matrices are products of generalised Householder matrices. The products are computed
// by DeltaNet.
#include "theory/negative_eigenvalues/householder.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
Claim householder_norm() {
  ClaimBuilder c("householder-norm", "2411.12537 Proposition 1.1");
  c.says("A product of factors $I - beta v v^T$ with unit v and beta in $[0, 2]$ has a norm of at most 1.");
  c.exactly("Each factor has the norm $max(1, |1 - beta |v|^2|)$; it is at most 1 only if $beta |v|^2 <= 2$.");
  c.because("The norm of a product is at most the product of the norms.");
  c.runs({"delta_net"});
  c.takes({integer_param("n", 6, 2, 32, "width"), integer_param("factors", 4, 1, 32, "factors of a product")});
  return measure(c, [](Points &points, Seed seed, int n, int k) {
    const int draws = 20;
    const double units = 32.0 * n * k;
    const auto largest = [&](int factors, double low, double high, double length) {
      double most = 0;
      for (int i = 0; i < draws; ++i) {
        std::vector<Householder> all = random_factors(factors, n, low, high, seed, "householder", i);
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
    points.statement("largest norm of 20 products, $beta$ in [0, 2]: at most 1", bound(largest(k, 0, 2, 1)));
    points.statement("largest norm of 20 products, $beta = 2$: at most 1", bound(largest(k, 2, 2, 1)));
    points.obligation("norm of one factor, $beta = 1.7$: 1", one(1.7, 1));
    points.obligation("norm of one factor, $|k| = 1.3$: $|1 - beta |k|^2|$", one(2, 1.3))
        .but_not("norm 1 for any key", 1);
    points.wrong_system("norm of one factor, $beta = 2.1$: at most 1", bound(largest(1, 2.1, 2.1, 1)));
    points.wrong_system("norm of one factor, keys of length 1.3: at most 1", bound(largest(1, 2, 2, 1.3)));
  });
}

Dense matrix_of(const std::vector<int> &permutation) { // column j has its 1 in row permutation[j]
  Dense P(int(permutation.size()), int(permutation.size()));
  for (int j = 0; j < P.columns; ++j) P(permutation[j], j) = 1;
  return P;
}

Claim permutation_reflections() {
  ClaimBuilder c("permutation-reflections", "2411.12537 Proposition 1.2");
  c.says("A permutation matrix of n elements is a product of $n - 1$ factors $I - beta v v^T$ with $|v| = 1$, each of "
         "which is a reflection or the identity.");
  c.exactly("A swap of i and j is the reflection at $(e_i - e_j)/sqrt(2)$. The cycle of all n elements needs $n - 1$ "
            "factors, because it differs from I by a matrix of rank $n - 1$.");
  c.because("The paper does not say that fewer factors do not suffice. This follows because a product of j factors "
            "differs from I by a matrix of rank at most j.");
  c.runs({"delta_net"}), c.takes({integer_param("n", 5, 3, 10, "elements")});
  return measure(c, [](Points &points, Seed seed, int n) {
    std::vector<int> ring(n); // 0 -> 1 -> ... -> 0
    for (int i = 0; i < n; ++i) ring[i] = (i + 1) % n;
    const Dense cycle = matrix_of(ring), identity = Dense::identity(n);
    const double units = 32.0 * n;
    Vector made, wanted;
    for (int i = 0; i < 20; ++i) {
      const std::vector<int> drawn = Stream(seed, "householder/permutation", i).permutation(n);
      append_column(made, product(swaps_of(drawn))), append_column(wanted, matrix_of(drawn));
    }
    std::vector<Householder> swaps = swaps_of(ring), fewer = swaps, weaker = swaps;
    fewer.pop_back();
    for (Householder &f : weaker) f.beta = 1.9;
    // A factor minus I has rank 1, so a product of j factors minus I has a rank of at most j.
    const auto rank_after = [&](int factors) {
      const Dense A = product(random_factors(factors, n, 2, 2, seed, "householder/rank"));
      return exact_point(rank(identity - A, 1e-6), factors, 1);
    };
    points.rounding(units);
    points.statement("20 permutations: each is a product of $n - 1$ factors", made, wanted);
    points.statement("the cycle of all n elements is a product of $n - 1$ factors", product(swaps), cycle)
        .but_not("the inverse cycle", transpose(cycle));
    points.rounding(1);
    points.obligation("rank of I - the cycle of all n: $n - 1$ factors are needed", rank(identity - cycle, 1e-6), n - 1)
        .but_not("$n - 2$ factors are needed", n - 2);
    points.obligation("rank of $I$ - a product of $n - 2$ reflections: at most $n - 2$", rank_after(n - 2));
    points.rounding(units);
    points.wrong_system("$n - 2$ of the factors: the cycle of all n elements", product(fewer), cycle);
    points.wrong_system("factors with $beta = 1.9$: the cycle of all n elements", product(weaker), cycle);
  });
}

struct Eigenvalues {
  // Eigenvalues of a 2 x 2 matrix; their real parts if the discriminant is negative.
  double discriminant, smallest, largest;
};
Eigenvalues eigenvalues(const Dense &A) {
  const double half = trace(A) / 2, determinant = A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0),
               discriminant = half * half - determinant, root = std::sqrt(std::max(0.0, discriminant));
  return {discriminant, half - root, half + root};
}

Claim two_factors_stay_positive() {
  ClaimBuilder c("two-factors-stay-positive", "2411.12537 Proposition 1.3");
  c.says("A product of at most two factors $I - beta v v^T$ with unit v and beta in $[0, 1]$ has all its eigenvalues "
         "in $[0, 1]$.");
  c.exactly("In the plane of the two keys, at an angle $a$ between them, the product has the trace $2 - 2 beta + "
            "beta^2 cos(a)^2$ and the determinant $(1 - beta)^2$. For three factors the statement is false: with beta "
            "= 1 and keys 60 degrees apart one eigenvalue is $-1/8$.");
  c.because("The paper states the bound of two factors. The three projections of the example show that this bound is "
            "necessary.");
  c.runs({"delta_net"});
  c.takes({real_param("angle", 60, 1, 89, "degrees between the two keys"),
           real_param("beta", 0.7, 0.01, 1, "write strength of both factors")});
  return measure(c, [](Points &points, double degrees, double beta) {
    const double angle = degrees * pi / 180, rounding = 64 * epsilon_of(Real::f64);
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
    points.statement("two factors: the discriminant is at least 0, so the eigenvalues are real", real(two));
    points.statement("smaller eigenvalue of two factors: at least 0", positive(two));
    points.statement("larger eigenvalue of two factors: at most 1", at_most_point(two.largest, 1, std::sqrt(rounding)));
    points.rounding(64);
    points.obligation("discriminant of two factors, by trace and determinant", two.discriminant, discriminant)
        .but_not("0, a double eigenvalue", 0);
    points.obligation("three factors, $beta = 1$, keys 60 degrees apart: smaller eigenvalue, $-1/8$", three.smallest,
                      -0.125);
    points.wrong_system("three factors, $beta = 1$, keys 60 degrees apart: smaller eigenvalue, at least 0",
                        positive(three));
    points.wrong_system("two factors, $beta = 2$: the discriminant is at least 0", real(turned));
  });
}
} // namespace

std::vector<Claim> proposition_1_householder() {
  return {householder_norm(), permutation_reflections(), two_factors_stay_positive()};
}
} // namespace recollect::theory
