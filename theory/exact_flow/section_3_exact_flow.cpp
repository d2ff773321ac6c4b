// SPDX-License-Identifier: Apache-2.0
// 2512.12602 §3: the delta rule is an Euler step of dS/dt = (v - S k) k^T; the exact solution of this equation (the
// flow) is DeltaNet with another write strength.
#include "theory/exact_flow/flow.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect::theory {
namespace {
const int d = 6, dv = 3;

Claim efla_closed_form() {
  ClaimBuilder c("efla-closed-form", "2512.12602 Eq 10-15");
  c.says("If key and value are constant during a token (zero-order hold), the flow $dS/dt = (v - S k) k^T$ over the "
         "time beta has the closed solution $S (I - a k k^T) + a v k^T$ with $a = (1 - exp(-beta |k|^2)) / |k|^2$. "
         "This is the delta rule with another strength, without the error of Euler's method.");
  c.exactly("The solution is exact for any number of tokens, and two flows over the time beta / 2 equal one over beta. "
            "If the key rotates during a token, it is not the solution.");
  c.because(
      "It is compared with a matrix exponential by its Taylor series, which does not use that $k k^T$ has rank one.");
  c.runs({"delta_net"}),
      c.takes({real_param("beta", 0.5, 0.05, 4, "time of a token"),
               real_param("norm", 1.5, 0.2, 3, "length of the keys, not 1"), integer_param("T", 8, 2, 64, "tokens")});
  c.at({{}, {{"beta", 2}, {"norm", 0.7}}});
  return measure(c, [](Points &points, Seed seed, double beta, double norm, int T) {
    const double square = norm * norm;
    if (std::fabs(square - 1) < 0.05)
      usage_error("take keys of a length other than 1: at length 1 two of the laws coincide");
    const HeldTokens x(T, d, dv, norm, seed);
    const Dense exact = x.exact(beta);
    const double strength = exact_strength(beta, square);
    points.rounding(x.units(beta));
    points.statement("DeltaNet with the strength $(1 - exp(-beta |k|^2)) / |k|^2$ is the flow", x.delta_rule(strength),
                     exact);
    points.obligation("two flows over $beta / 2$ per token are one over $beta$",
                      x.delta_rule(exact_strength(beta / 2, square), 2), exact);
    points.wrong_system("Euler's step, DeltaNet with the strength $beta$, is the flow", x.delta_rule(beta), exact);
    points.wrong_system("sixteen of Euler's steps per token are the flow", x.delta_rule(beta / 16, 16), exact);
    points.wrong_system("DeltaNet with the strength $1 - exp(-beta |k|^2)$, not divided by $|k|^2$",
                        x.delta_rule(strength * square), exact);
    points.wrong_system("DeltaNet with the strength $1 - exp(-beta)$, as for unit keys",
                        x.delta_rule(-std::expm1(-beta)), exact);
    points.wrong_system("the implicit Euler step is the flow", x.delta_rule(beta / (1 + beta * square)), exact);
    points.wrong_system("the flow with keys that rotate during a token", x.delta_rule(strength), x.moving(beta));
  });
}

Claim efla_small_step() {
  ClaimBuilder c("efla-small-step", "2512.12602 Eq 28, §2");
  c.says("The strength of the exact flow is $beta - beta^2 |k|^2 / 2 + O(beta^3 |k|^4)$, so at small $beta |k|^2$ the "
         "flow is the delta rule. The delta rule, which is Euler's step, has a local error of $O(beta^2)$.");
  c.exactly("Let $x = beta |k|^2$. Relative to the change that the delta rule makes, its error is $(x - 1 + e^(-x)) / "
            "x$, which is $x / 2$ to first order.");
  c.because("The error is measured as the difference between DeltaNet's step and the solution of the differential "
            "equation, not between two formulas.");
  c.runs({"delta_net"}), c.takes({real_param("norm", 1.3, 0.3, 3, "length of the key")});
  return measure(c, [](Points &points, Seed seed, double norm) {
    const double square = norm * norm;
    const HeldTokens x(1, d, dv, norm, seed);
    const Dense reference = x.delta_rule(1) - x.S; // (v - S k) k^T
    // The difference of a step with this strength from the flow, along the direction of the delta rule's change,
    // relative to that change times beta |k|^2.
    const auto error = [&](double size, double strength) { // size = beta |k|^2
      const double beta = size / square;
      return inner((x.delta_rule(strength * beta) - x.exact(beta)).data, reference.data) /
             (beta * size * inner(reference.data, reference.data));
    };
    const auto units = [&](double size) { // rounding bound of error(size, ...)
      return x.units(size / square) * std::sqrt(double(d * dv)) / (size * size / square * frobenius_norm(reference));
    };
    const auto law = [](double size) { return (size - 1 + std::exp(-size)) / (size * size); };
    const Vector sizes{0.32, 0.16, 0.08, 0.04, 0.02};
    const auto limit = [&](const auto &strength) {
      Vector errors;
      for (double size : sizes) errors.push_back(error(size, strength(size)));
      const Limit found = limit_at_zero(sizes, errors);
      const double rounding = units(sizes.back()) * epsilon_of(Real::f64);
      return bracketed_point(found.value, 0.5, found.error + found.amplification * rounding);
    };
    const auto euler = [](double) { return 1.0; };
    points.statement("relative error of Euler's step over $beta |k|^2$, as $beta -> 0$: $1/2$", limit(euler))
        .but_not("1 for $1/2$", 1)
        .but_not("$1/3$ for $1/2$", 1.0 / 3);
    points.rounding(units(0.3));
    points.obligation("relative error of Euler's step over $x = beta |k|^2$, at $x = 0.3$: $(x - 1 + e^(-x)) / x^2$",
                      error(0.3, 1), law(0.3));
    points.rounding(units(1.5));
    points
        .obligation("relative error of Euler's step over $x = beta |k|^2$, at $x = 1.5$: $(x - 1 + e^(-x)) / x^2$",
                    error(1.5, 1), law(1.5))
        .but_not("$1/2$ at $beta |k|^2 = 1.5$", 0.5);
    points.wrong_system("the step of second order, $beta (1 - beta |k|^2 / 2)$",
                        limit([](double size) { return 1 - size / 2; }));
  });
}

Claim efla_non_expansive() {
  ClaimBuilder c("efla-non-expansive", "2512.12602 §3.4, Eq 27");
  c.says("For $beta >= 0$ the homogeneous part of the exact flow (the factor of $S$) has the eigenvalues $exp(-beta "
         "|k|^2)$ and 1, so it never expands, whatever the length of the key.");
  c.exactly("Euler's step has the eigenvalue $1 - beta |k|^2$ instead of $exp(-beta |k|^2)$, and expands if $beta "
            "|k|^2 > 2$. The flow's eigenvalues are positive at every beta. So the flow cannot change a sign and, by "
            "2411.12537 Theorem 1, cannot solve parity.");
  c.because("Above $beta |k|^2 = 1$ Euler's step is less accurate, but it has the negative eigenvalues that state "
            "tracking needs.");
  c.runs({"delta_net"}),
      c.takes({real_param("size", 2.5, 2.1, 20, "$beta |k|^2$"), real_param("norm", 1.3, 0.3, 3, "length of the key")});
  c.at({{}, {{"size", 12}, {"norm", 0.6}}});
  return measure(c, [](Points &points, Seed seed, double size, double norm) {
    const double square = norm * norm, beta = size / square;
    HeldTokens x(1, d, d, norm, seed);
    // With values of 0, one token turns the state I into the transition matrix.
    x.S = Dense::identity(d), x.v = Dense(1, d);
    const auto transition = [&](double strength) { return x.delta_rule(strength); };
    const double units = 32.0 * d * (1 + size);
    const auto bound = [&](double strength) {
      return at_most_point(spectral_norm(transition(strength)), 1, units * epsilon_of(Real::f64));
    };
    const auto spectrum = [&](double strength, double along) {
      Vector expected(d, 1.0);
      (along > 1 ? expected.back() : expected.front()) = along;
      return exact_point(symmetric_eigenvalues(transition(strength)), expected, units);
    };
    const double strength = exact_strength(beta, square);
    points.statement("norm of the flow's transition: at most 1", bound(strength));
    points.statement("eigenvalues of the flow's transition: $exp(-beta |k|^2)$ once, otherwise 1",
                     spectrum(strength, std::exp(-size)));
    points.obligation("eigenvalue of Euler's step at $beta |k|^2 = 2$: -1", spectrum(2 / square, -1));
    points.obligation("eigenvalue of Euler's step: $1 - beta |k|^2$", spectrum(beta, 1 - size))
        .but_not("$1 / (1 + beta |k|^2)$, the implicit step", spectrum(strength, 1 / (1 + size)))
        .but_not("$exp(-beta)$", spectrum(strength, std::exp(-size / square)));
    points.wrong_system("norm of Euler's step: at most 1", bound(beta));
  });
}
} // namespace

std::vector<Claim> section_3_exact_flow() { return {efla_closed_form(), efla_small_step(), efla_non_expansive()}; }
} // namespace recollect::theory
