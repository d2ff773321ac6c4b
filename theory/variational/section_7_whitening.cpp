// SPDX-License-Identifier: Apache-2.0
// 004 §7.1-7.2: A_t as a whitening of the keys, and the angle by which it rotates a write direction away from earlier
// keys.
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {
Claim whitening_index() {
  ClaimBuilder c("vla-7.1-whitening-index", "004 §7.1, after Eq 15");
  c.says("With $u_s = k_s$, $A_t$ approximates the whitening $(K_{t-1} K_{t-1}^T + lambda0 I)^{-1}$.");
  c.exactly("With the index $t$ the equation is exact: $A_t = (K_t K_t^T + lambda0 I)^{-1}$, where $K_t$ has the keys "
            "$k_1 ... k_t$ as columns. The printed expression is $A_{t-1}$.");
  c.because("In Eq 8 $M_t$ includes $u_t$. So the printed index is one too small; with the index $t$ the approximation "
            "is an identity.");
  c.is_refuted(
      slip("§7.1 after Eq 15: $A_t ~ (K_{t-1} K_{t-1}^T + lambda0 I)^{-1}$.", "$u_s = k_s$", "Eq 15 includes $u_t$."));
  c.runs({"vla"});
  c.takes({integer_param("t", 10, 3, 128, "keys so far"), width_param(), penalty_param()});
  return measure(c, [](Points &points, Seed seed, int t, int d, double lambda0) {
    const Pairs x = unit_pairs(t, d, 1, seed, "whitening index");
    const Dense A = written(x, x.K, lambda0).A;
    const auto law = [&](int keys, double ridge) { return inverse(penalty(x.first(keys).K, ridge)); };
    points.rounding(step_units(t, d, lambda0) / lambda0)
        .statement("$A_t = (K_{t-1} K_{t-1}^T + lambda0 I)^{-1}$", A, law(t - 1, lambda0));
    points.obligation("$A_t = (K_t K_t^T + lambda0 I)^{-1}$", A, law(t, lambda0))
        .but_not("$A_t = (K_{t-2} K_{t-2}^T + lambda0 I)^{-1}$", law(t - 2, lambda0))
        .but_not("penalty $2 lambda0$", law(t, 2 * lambda0));
  });
}

Claim two_keys() {
  ClaimBuilder c("vla-whitening-direction", "004 §7.2");
  c.says("For two keys with $k_1.k_2 = rho$ the write direction $A_1 k_2$ is proportional to $k_2 - rho k_1$, the part "
         "of $k_2$ orthogonal to $k_1$, so that the association stored for $k_1$ is not diluted.");
  c.exactly("For $u_1$ along $k_1$ with $|u_1| = s$ the coefficient of $k_1$ is $rho s^2/(lambda0 + s^2)$, not $rho$. "
            "So the direction becomes orthogonal to $k_1$ as $lambda0/s^2 -> 0$.");
  c.because("At $lambda0 = .1$ a unit $u$ removes 91% of the overlap $rho$ from the write direction. A $u$ of "
            "Algorithm 1's length $1/sqrt(32)$ removes 24%, so that most of the interference remains. Unit penalty "
            "directions and a small $lambda0$ remove it.");
  c.holds_asymptotically(), c.runs({"vla"});
  c.takes({real_param("rho", 0.6, 0.01, 0.99, "$k_1 . k_2$"),
           real_param("s", 1, 0.01, 10, "length of $u_1$, parallel to $k_1$"), penalty_param(1e-6)});
  const Change shorter{"s", 1 / std::sqrt(32.0)}; // the length in Algorithm 1 at d = 32; in Eq 8 it is 1
  const Change small{"lambda0", 1e-2}, smaller{"lambda0", 1e-4};
  c.at({{}, {small}, {smaller}, {shorter}, {shorter, small}, {shorter, smaller}});
  return measure(c, [](Points &points, double rho, double s, double lambda0) {
    const double side = std::sqrt(1 - rho * rho);
    // The layer's write direction for k_2 = (rho, side) after u_1 = s e1. This direction is parallel to k_2 - w k_1.
    Vla memory(2, 1, lambda0);
    memory.step({1, 0}, {s, 0}, {1});
    memory.step({rho, side}, {0, 0}, {1});
    const double w = rho - memory.a[0] / memory.a[1] * side, law = rho * s * s / (lambda0 + s * s),
                 units = 64 * (1 + s * s / lambda0), remaining = (rho - law) / std::hypot(rho - law, side);
    const double told_apart = 1e3 * units * epsilon_of(Real::f64); // below this difference, rivals are left out
    if (rho - law < told_apart)
      usage_error("vla_whitening_direction: lambda0 / s^2 is so small that rounding hides it; take a larger lambda0");
    points.rounding(units).statement("$A_1 k_2$ is along $k_2 - rho k_1$", w, rho);
    auto limit = points.limit("$A_1 k_2$ is along $k_2 - rho s^2/(lambda0 + s^2) k_1$", w, law);
    for (const auto &[name, coefficient] : {std::pair("$s$ for $s^2$", rho * s / (lambda0 + s)),
                                            {"$rho / (1 + 2 lambda0 / s^2)$", rho / (1 + 2 * lambda0 / (s * s))},
                                            {"$rho (1 - lambda0 / s^2)$", rho * (1 - lambda0 / (s * s))}})
      if (std::fabs(coefficient - law) > told_apart) limit.but_not(name, coefficient);
    points.obligation("cosine of the write direction and $k_1$", memory.a[0], remaining)
        .but_not("this cosine with the opposite sign", -remaining);
  });
}

Claim many_keys() {
  ClaimBuilder c("vla-7.2-projection", "004 §7.2");
  c.says("The RLS update projects each new key onto the subspace not yet spanned by prior keys: $A_t k$ points along "
         "the part of $k$ outside their span.");
  c.exactly("Let $k = P k + K^T c$, where $P k$ is the part of $k$ outside the span of the earlier keys $K$. With $u = "
            "k$, $A k$ is along $P k + lambda0 K^T (K K^T + lambda0 I)^{-1} c$. This is the direction of $P k$ up to a "
            "rotation of order $lambda0$.");
  c.because("The sentence is right in the limit $lambda0 -> 0$, which the paper does not take. At $lambda0 = .1$ the "
            "unit vectors along $A k$ and $P k$ differ by .4.");
  c.holds_asymptotically(), c.runs({"vla"});
  c.takes({integer_param("n", 5, 1, 32, "earlier keys, fewer than d"), width_param(),
           real_param("lambda0", 1e-4, 1e-6, 1, "penalty at the start")});
  c.at({{{"lambda0", 0.1}}, {{"lambda0", 1e-2}}, {}});
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    if (n >= d) usage_error("n must be below d, so that the earlier keys do not span everything");
    const Pairs x = unit_pairs(n + 1, d, 1, seed, "projection"), earlier = x.first(n);
    const Vector k = x.k(n);
    const Dense gram = earlier.K * transpose(earlier.K);
    // For k = p + K^T c with p orthogonal to the earlier keys, A k = p / lambda0 + K^T (G + lambda0 I)^{-1} c.
    const Vector c_k = times(inverse(gram), times(earlier.K, k)), inside = times(transpose(earlier.K), c_k),
                 outside = combine(1, k, -1, inside);
    Dense U = x.K; // the new key has no penalty, so its write direction is along A_{t-1} k
    std::fill(U.data.end() - d, U.data.end(), 0.0);
    const Vector a = written(x, U, lambda0).a;
    const auto along = [&](double factor, const Vector &more) { return unit(combine(1, outside, factor, more)); };
    const Vector law = times(transpose(earlier.K), times(inverse(gram + lambda0 * Dense::identity(n)), c_k)),
                 first_order = times(transpose(earlier.K), times(inverse(gram), c_k));
    const double least = symmetric_eigenvalues(gram).front();
    points.rounding(step_units(n + 1, d, lambda0) / std::min(1.0, norm(outside)) / std::min(1.0, least));
    points.statement("A k is along P k, the part of k outside the span of earlier keys", a, unit(outside));
    auto limit = points.limit("A k is along $P k + lambda0 K^T (K K^T + lambda0 I)^{-1} c$", a, along(lambda0, law))
                     .but_not("$sqrt(lambda0)$ for the factor $lambda0$", along(std::sqrt(lambda0), law))
                     .but_not("$lambda0^2$ for the factor $lambda0$", along(lambda0 * lambda0, law));
    if (lambda0 >= 1e-3) limit.but_not("first order in $lambda0$ alone", along(lambda0, first_order));
  });
}
} // namespace

std::vector<Claim> section_7_whitening() { return {whitening_index(), two_keys(), many_keys()}; }
} // namespace recollect::theory
