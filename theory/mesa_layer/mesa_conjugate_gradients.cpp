// SPDX-License-Identifier: Apache-2.0
// 2506.05233: the mesa layer solves (H_t + ridge I) x = q by conjugate gradients. Measures the distance of the result
// after k steps from the layer's read, for the matrix H_t that the layer has accumulated.
#include "theory/mesa_layer/iterations.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
Claim mesa_conjugate_gradients_rate() {
  ClaimBuilder c("mesa-conjugate-gradients-rate", "2506.05233 (secondary source)");
  c.says("The mesa layer reads $B_t (H_t + ridge I)^{-1} q_t$ with $B_t = sum v_i k_i^T$ and $H_t = sum k_i k_i^T$, "
         "and solves the system by k steps of conjugate gradients. In the norm of the matrix $H_t + ridge I$ the error "
         "of the steps is at most $2 ((sqrt(kappa) - 1) / (sqrt(kappa) + 1))^k$ of the initial error, where kappa is "
         "the condition number of this matrix.");
  c.exactly("In the worst case the first step multiplies the error by $(kappa - 1) / (kappa + 1)$. After d steps (d is "
            "the key width) the result is exact up to rounding.");
  c.because("By its abstract and public notes, the paper has this layer and this solver; the rate is the classical "
            "bound of conjugate gradients.");
  c.runs({"mesa"});
  c.takes({integer_param("T", 24, 4, 128, "pairs"), integer_param("d", 8, 4, 32, "key width"),
           real_param("ridge", 0.05, 0.01, 1, "ridge")});
  return measure(c, [](Points &points, Seed seed, int T, int d, double ridge) {
    const int dv = 3;
    const Sequence s = normal_sequence({1, 1, T, d, dv}, seed, "mesa");
    const Output out = run("mesa", s, {{"ridge", number(ridge)}});
    const auto begin = out.state.begin();
    const Dense B(dv, d, {begin, begin + dv * d}),
        A = Dense(d, d, {begin + dv * d, begin + (dv + d) * d}) + ridge * Dense::identity(d), q = column(s.q, T - 1, d);
    const Vector eigenvalues = symmetric_eigenvalues(A), read{out.o.end() - dv, out.o.end()};
    const double condition = eigenvalues.back() / eigenvalues.front();
    const Dense solution = inverse(A) * q;
    const double rounding = 64.0 * d * condition;
    const auto bounded = [&](const Dense &x, const Dense &exact, int k) {
      return at_most_point(energy_error(A, x, exact), chebyshev_bound(condition, k), rounding * epsilon_of(Real::f64));
    };
    for (int k : {1, 2, 3, d - 1})
      points.statement("error after " + std::to_string(k) + " steps of conjugate gradients, in the norm of the matrix",
                       bounded(conjugate_gradient_steps(A, q, k), solution, k));

    // The worst case of a first step: the diagonal matrix of the extreme eigenvalues l1 and l2 (kappa = l2 / l1), with
    // b = (1, 1). The step has the length 2 / (l1 + l2), and multiplies |x - x*|_A^2 by ((kappa - 1) / (kappa + 1))^2.
    Dense extremes(2, 2);
    extremes(0, 0) = eigenvalues.front(), extremes(1, 1) = eigenvalues.back();
    const auto hardest = [&](int k, bool conjugate) {
      const Dense b(2, 1, {1, 1}), x = inverse(extremes) * b;
      return energy_error(extremes, descent_steps(extremes, b, k, conjugate), x);
    };
    const int many = 4 * int(std::ceil(std::sqrt(condition)));
    points.rounding(rounding);
    points
        .obligation("error after the first step in the worst case: $(kappa - 1) / (kappa + 1)$", hardest(1, true),
                    (condition - 1) / (condition + 1))
        .but_not("$(sqrt kappa - 1) / (sqrt kappa + 1)$, without the 2", chebyshev_bound(condition, 1) / 2)
        .but_not("the square of the rate", chebyshev_bound(condition, 2));
    points.obligation("a matrix with two different eigenvalues: 1 + error after two steps", 1 + hardest(2, true), 1);
    points.rounding(rounding * (1 + max_abs(B.data)) * d * (1 + max_abs(solution.data)));
    points.obligation("the layer's read is $B x$ with x after 2 d steps",
                      (B * conjugate_gradient_steps(A, q, 2 * d)).data, read);
    points.wrong_system("steepest descent, " + std::to_string(many) + " steps",
                        at_most_point(hardest(many, false), chebyshev_bound(condition, many), 1e-12));
  });
}
} // namespace

std::vector<Claim> mesa_conjugate_gradients() { return {mesa_conjugate_gradients_rate()}; }
} // namespace recollect::theory
