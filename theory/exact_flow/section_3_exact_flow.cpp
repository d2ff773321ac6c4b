// SPDX-License-Identifier: Apache-2.0
// 2512.12602 §3: the delta rule as an Euler step of dS/dt = (v - S k) k^T, and the exact flow in its place. The flow is
// DeltaNet with another strength.
#include "harness/core/error.hpp"
#include "theory/exact_flow/flow.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect::theory {
namespace {

const int d = 6, dv = 3;

// ---- The closed form --------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> token{real_param("beta", 0.5, 0.05, 4, "time of a token"),
                                   real_param("norm", 1.5, 0.2, 3, "length of the keys, not 1"),
                                   integer_param("T", 8, 2, 64, "tokens")};

std::vector<Point> closed_form(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {labels({{"beta", num(0.5)}, {"norm", num(1.5)}, {"T", num(8)}}),
                                              labels({{"beta", num(2)}, {"norm", num(0.7)}, {"T", num(8)}})})) {
    const double beta = p.real("beta"), square = p.real("norm") * p.real("norm");
    const int T = p.integer("T");
    if (std::fabs(square - 1) < 0.05) usage_error("keys whose length is not 1: at 1 two of the laws are one");
    const HeldTokens x(T, d, dv, p.real("norm"), protocol.seed);
    const double units = x.units(beta);
    const Dense exact = x.exact(beta);
    const double strength = exact_strength(beta, square);
    const auto flows = [&](const Dense &state, const Dense &reference) {
      return exact_point(state.data, reference.data, units);
    };
    points.push_back(
        as_statement(flows(x.delta_rule(strength), exact), p, "DeltaNet at (1 - exp(-beta |k|^2)) / |k|^2"));
    points.push_back(as_obligation(flows(x.delta_rule(exact_strength(beta / 2, square), 2), exact), p,
                                   "two flows of beta / 2 a token"));
    points.push_back(rival_system(flows(x.delta_rule(beta), exact), p, "Euler's step, DeltaNet at beta"));
    points.push_back(rival_system(flows(x.delta_rule(beta / 16, 16), exact), p, "sixteen of Euler's steps a token"));
    points.push_back(
        rival_system(flows(x.delta_rule(strength * square), exact), p, "1 - exp(-beta |k|^2), not divided"));
    points.push_back(
        rival_system(flows(x.delta_rule(-std::expm1(-beta)), exact), p, "1 - exp(-beta), unit keys assumed"));
    points.push_back(
        rival_system(flows(x.delta_rule(beta / (1 + beta * square)), exact), p, "the implicit Euler step"));
    points.push_back(rival_system(flows(x.delta_rule(strength), x.moving(beta)), p, "keys that turn during a token"));
  }
  return points;
}

Claim efla_closed_form() {
  return explained(
      at_parameters(
          running(
              ledger_row(
                  "efla-closed-form", "2512.12602 Eq 10-15",
                  "For a key and a value that are constant during a token (zero-order hold), $dS/dt = (v - S k) k^T$ "
                  "over the time beta has the closed solution $S (I - a k k^T) + a v k^T$ with $a = (1 - "
                  "exp(-beta |k|^2)) / |k|^2$: the delta rule with another strength, free of Euler's error.",
                  "Exact, over any number of tokens, and two flows of beta / 2 are one of beta. Where keys turn "
                  "during a token it is not the solution: the exactness is of the held input.",
                  closed_form),
              {"delta_net"}),
          token),
      "The reference is the exponential of a matrix, by Taylor's series, which does not use that $k k^T$ has rank "
      "one.");
}

// ---- Small steps ------------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> one_key{real_param("norm", 1.3, 0.3, 3, "length of the key")};

std::vector<Point> small_steps(const Protocol &protocol) {
  const Params p = point_of(protocol, one_key);
  const double norm = p.real("norm"), square = norm * norm;
  const HeldTokens x(1, d, dv, norm, protocol.seed);
  const Dense reference = x.delta_rule(1) - x.S; // (v - S k) k^T
  // How far a step of this strength is from the flow, in units of the delta rule's own change and of beta |k|^2.
  const auto error = [&](double size, double strength) { // size = beta |k|^2
    const double beta = size / square;
    return inner((x.delta_rule(strength * beta) - x.exact(beta)).data, reference.data) /
           (beta * size * inner(reference.data, reference.data));
  };
  const auto units = [&](double size) { // of error(size, ...)
    return x.units(size / square) * std::sqrt(double(d * dv)) / (size * size / square * frobenius_norm(reference));
  };
  const auto law = [](double size) { return (size - 1 + std::exp(-size)) / (size * size); };
  const std::vector<double> sizes{0.32, 0.16, 0.08, 0.04, 0.02};
  const auto limit = [&](const auto &strength) {
    std::vector<double> errors;
    for (double size : sizes) errors.push_back(error(size, strength(size)));
    const Limit found = limit_at_zero(sizes, errors);
    const double rounding = units(sizes.back()) * epsilon_of(Real::f64);
    return bracketed_point(found.value, 0.5, found.error + found.amplification * rounding);
  };
  const auto euler = [](double) { return 1.0; };
  const Point half = limit(euler);
  return {as_statement(half, p, "error of Euler's step over beta (beta |k|^2), as beta -> 0"),
          as_obligation(exact_point(error(0.3, 1), law(0.3), units(0.3)), p,
                        "the same at beta |k|^2 = 0.3: (x - 1 + e^-x) / x^2"),
          as_obligation(exact_point(error(1.5, 1), law(1.5), units(1.5)), p, "the same at beta |k|^2 = 1.5"),
          rival_law(half, "1", 1),
          rival_law(half, "1/3", 1.0 / 3),
          rival_law(exact_point(error(1.5, 1), 0.5, units(1.5)), p, "1/2 at beta |k|^2 = 1.5"),
          rival_system(limit([](double size) { return 1 - size / 2; }), p,
                       "the step of second order, beta (1 - beta |k|^2 / 2)")};
}

Claim efla_small_step() {
  return explained(
      at_parameters(
          running(ledger_row("efla-small-step", "2512.12602 Eq 28, §2",
                             "The exact flow's strength is $beta - beta^2 |k|^2 / 2 + O(beta^3 |k|^4)$: at small "
                             "$beta |k|^2$ the delta rule, whose local error as Euler's step is $O(beta^2)$.",
                             "Relative to the delta rule's own change the error is $(x - 1 + e^(-x)) / x$ with "
                             "$x = beta |k|^2$, which begins as $x / 2$.",
                             small_steps),
                  {"delta_net"}),
          one_key),
      "Measured between DeltaNet's step and the solution of the differential equation, not between two formulas.");
}

// ---- Large steps ------------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> step{real_param("size", 2.5, 2.1, 20, "beta |k|^2"),
                                  real_param("norm", 1.3, 0.3, 3, "length of the key")};

std::vector<Point> large_steps(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {labels({{"size", num(2.5)}, {"norm", num(1.3)}}),
                                              labels({{"size", num(12)}, {"norm", num(0.6)}})})) {
    const double size = p.real("size"), norm = p.real("norm"), square = norm * norm, beta = size / square;
    HeldTokens x(1, d, d, norm, protocol.seed);
    x.S = Dense::identity(d);
    for (double &value : x.v.data) value = 0; // what is left of S = I is the transition
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
    points.push_back(as_statement(bound(strength), p, "norm of the transition"));
    points.push_back(
        as_statement(spectrum(strength, std::exp(-size)), p, "eigenvalues: exp(-beta |k|^2), once, and 1"));
    points.push_back(as_obligation(spectrum(2 / square, -1), p, "Euler's step at beta |k|^2 = 2: -1, the bound"));
    points.push_back(as_obligation(spectrum(beta, 1 - size), p, "Euler's step: 1 - beta |k|^2"));
    points.push_back(rival_law(spectrum(strength, 1 / (1 + size)), p, "1 / (1 + beta |k|^2), the implicit step"));
    points.push_back(rival_law(spectrum(strength, std::exp(-size / square)), p, "exp(-beta)"));
    points.push_back(rival_system(bound(beta), p, "norm of Euler's step"));
  }
  return points;
}

Claim efla_non_expansive() {
  return explained(
      at_parameters(
          running(
              ledger_row(
                  "efla-non-expansive", "2512.12602 §3.4, Eq 27",
                  "For $beta >= 0$ the homogeneous part of the exact flow has the eigenvalues $exp(-beta |k|^2)$ and "
                  "1, so it never expands, whatever the length of the key.",
                  "Euler's step has $1 - beta |k|^2$ in place of the first and expands from $beta |k|^2 = 2$ on. "
                  "The flow's eigenvalues are positive at every beta: it cannot turn a sign, and so by 2411.12537 "
                  "Theorem 1 not solve parity.",
                  large_steps),
              {"delta_net"}),
          step),
      "What Euler's step loses above $beta |k|^2 = 1$ in accuracy it has in negative eigenvalues, which state tracking "
      "needs.");
}

} // namespace

std::vector<Claim> section_3_exact_flow() { return {efla_closed_form(), efla_small_step(), efla_non_expansive()}; }

} // namespace recollect::theory
