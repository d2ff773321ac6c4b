// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 2: least squares with decaying weights (Eq 14-15).
#include "harness/numerics/keys.hpp"
#include "theory/test_time_regression/decays.hpp"

namespace recollect::theory {
namespace {

std::vector<double> power(std::vector<double> w, double exponent) {
  for (double &x : w) x = std::pow(x, exponent);
  return w;
}

// ---- The weights ----------------------------------------------------------------------------------------------------

std::vector<Point> monotone(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {labels({{"t", num(12)}})})) {
    // Orthonormal keys and one-hot values: the read at k_i is the weight of pair i, in channel i.
    const int t = p.integer("t");
    const Pairs x({t, t, make_keys({"orthonormal", t, t}, 1, protocol.seed)}, Dense::identity(t));
    const auto read = [&](const std::vector<double> &alpha, const std::string &variant = "gated_linear",
                          double last_write = 1) {
      Sequence s = x.sequence();
      s.alpha = alpha, s.beta.assign(t, 1), s.beta.back() = last_write;
      const Dense reads = memory(run(variant, s), s.shape) * transpose(x.K);
      std::vector<double> w(t);
      for (int i = 0; i < t; ++i) w[i] = reads(i, i);
      return w;
    };
    const auto least_rise = [&](const std::vector<double> &w) {
      double least = HUGE_VAL;
      for (int i = 0; i + 1 < t; ++i) least = std::min(least, w[i + 1] - w[i]);
      return at_least_point(least, 0, 16.0 * t * epsilon_of(Real::f64));
    };
    const std::vector<double> gamma = gates(t, protocol.seed);
    std::vector<double> edges = gamma, reversed(t, 1.0);
    edges[t / 2] = 0, edges[t - 1] = 1;
    for (int i = 0; i < t; ++i)
      for (int j = 1; j <= i; ++j) reversed[i] *= gamma[j];
    const auto law = [&](const std::vector<double> &expected) { return exact_point(read(gamma), expected, 16.0 * t); };
    points.push_back(as_statement(law(weights(gamma)), p, "gamma_i^(t) is the product of the gates after i"));
    points.push_back(as_statement(least_rise(read(gamma)), p, "non-decreasing in i"));
    points.push_back(as_statement(exact_point(read(edges), weights(edges), 16.0 * t), p, "with gates of 0 and 1"));
    points.push_back(as_statement(least_rise(read(edges)), p, "non-decreasing, with gates of 0 and 1"));
    points.push_back(as_statement(exact_point(read(gamma).back(), 1, 16.0 * t), p, "1 at i = t"));
    points.push_back(rival_system(least_rise(read(gamma, "mamba2", 0.1)), p, "a weak last write"));
    points.push_back(rival_law(law(weights(gamma, Product::from)), p, "the product from i on: gamma_t at i = t"));
    points.push_back(rival_law(law(reversed), p, "the product up to i"));
  }
  return points;
}

Claim monotone_claim() {
  return explained(
      at_parameters(
          running(ledger_row("decay-weights-monotone", "003 Eq 14",
                             "With $gamma_i^(t) = prod_{j=i+1..t} gamma_j$ and $gamma_j$ in [0, 1] each association is "
                             "down-weighted by its distance from the present: $gamma_1^(t) <= ... <= gamma_t^(t) = 1$.",
                             "Exact.", monotone),
                  {"gated_linear", "mamba2"}),
          {integer_param("t", 12, 2, 64, "pairs")}),
      "Read off gated linear attention, one orthonormal key a pair.");
}

// ---- Eq 15 ----------------------------------------------------------------------------------------------------------

/// Unit keys at point P.
Pairs unit_pairs(const Params &p, std::uint64_t seed) {
  Pairs x(pair_shape(p), seed);
  normalise_rows(x.K.data, x.K.columns);
  return x;
}
Pairs scaled(const Pairs &x, const std::vector<double> &w) {
  const Dense root = diagonal(power(w, 0.5));
  return {root * x.K, root * x.V};
}

std::vector<Point> weighted_over(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(14, 5, 3)})) {
    const Pairs x = unit_pairs(p, protocol.seed);
    if (x.K.rows <= x.K.columns)
      usage_error("the first form of Eq 15 needs t >= Dk, and at t = Dk the weights drop out: take t > Dk");
    const std::vector<double> gamma = gates(x.K.rows, protocol.seed), w = weights(gamma);
    const Dense M = scaled(x, w).best();
    const double units = solved_units(scaled(x, w).K, M) + solved_units(x.K, M);
    const auto formula = [&](const std::vector<double> &u) {
      const Dense G = diagonal(u);
      return exact_point(M.data, (transpose(x.V) * G * x.K * inverse(transpose(x.K) * G * x.K)).data, units);
    };
    points.push_back(as_statement(formula(w), p, "least squares on rescaled pairs = V^T G K (K^T G K)^{-1}"));
    // Among all memories it is stationary for the weighted loss.
    const Dense G = diagonal(w);
    const auto stationary = [&](const Dense &memory) {
      return exact_point((memory * transpose(x.K) * G * x.K).data, (transpose(x.V) * G * x.K).data, units * x.K.rows);
    };
    points.push_back(as_statement(stationary(M), p, "stationary for the weighted loss"));
    points.push_back(rival_system(stationary(x.best()), p, "least squares without weights"));
    points.push_back(rival_law(formula(power(w, 0.5)), p, "G^{1/2} in the formula"));
    points.push_back(rival_law(formula(power(w, 2)), p, "G^2"));
    points.push_back(rival_law(formula(std::vector<double>(w.size(), 1)), p, "no weights"));
    points.push_back(rival_law(formula(weights(gamma, Product::from)), p, "the product from i on"));
  }
  return points;
}

Claim over_claim() {
  return explained(
      at_parameters(
          ledger_row("wls-eq15-over", "003 Eq 15",
                     "Weighted least squares is least squares on keys and values rescaled by the roots of their "
                     "weights, $V^T G K (K^T G K)^{-1}$ where $t >= Dk$ ($K^T G K$ invertible).",
                     "Identity.", weighted_over),
          pair_params(point_P)),
      "$G$ holds $gamma_i^(t)$ on its diagonal; the roots enter squared.");
}

std::vector<Point> weighted_under(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(3, 5, 3)})) {
    const Pairs x = unit_pairs(p, protocol.seed);
    if (x.K.rows >= x.K.columns || x.K.rows < 2) usage_error("the second form of Eq 15 needs 1 < t < Dk");
    const std::vector<double> w = weights(gates(x.K.rows, protocol.seed));
    const Dense M = scaled(x, w).best(), inverted = inverse(x.K * transpose(x.K));
    const double units = solved_units(scaled(x, w).K, M) + solved_units(x.K, M);
    const auto is = [&](const Dense &memory, const Dense &other) {
      return exact_point(memory.data, other.data, units);
    };
    points.push_back(
        as_statement(is(M, transpose(x.V) * inverted * x.K), p, "the weights drop out: V^T (K K^T)^{-1} K"));
    Pairs other = x; // a weighted loss pulls a memory that cannot interpolate: more pairs than dimensions
    other.K = Dense(x.K.rows, x.K.columns);
    for (int i = 0; i < x.K.rows; ++i) other.K(i, 0) = x.K(i, 0);
    points.push_back(rival_system(is(scaled(other, w).best(), other.best()), p, "keys on one line: the weights stay"));
    points.push_back(rival_law(is(M, transpose(x.V) * diagonal(w) * inverted * x.K), p, "V^T G (K K^T)^{-1} K"));
    points.push_back(rival_law(is(M, transpose(x.V) * diagonal(w) * x.K), p, "gated linear attention"));
  }
  return points;
}

Claim under_claim() {
  return explained(
      at_parameters(ledger_row("wls-eq15-under-weights-irrelevant", "003 Eq 15",
                               "In the underdetermined case the weights are irrelevant: infinitely many memories "
                               "interpolate, and the min-norm one is $V^T (K K^T)^{-1} K$, weighted or not.",
                               "True for positive weights and independent keys: the roots cancel.", weighted_under),
                    pair_params({1, 1, 3, 5, 3})),
      "With zero loss in reach no pair needs to yield to another.");
}

std::vector<Point> zero_weight(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(3, 7, 2)})) {
    const Pairs x(pair_shape(p), protocol.seed);
    const int t = x.K.rows;
    if (t < 2 || t >= x.K.columns) usage_error("a weight of 0 among independent keys needs 1 < t < Dk");
    std::vector<double> w(t, 1.0);
    w[0] = 0;
    const Dense ignored = scaled(x, w).best();
    const auto is = [&](const Dense &M) { return exact_point(ignored.data, M.data, 16 * solved_units(x.K, M)); };
    points.push_back(as_statement(is(x.best()), p, "a gate of 0: the same solution"));
    points.push_back(as_obligation(is(x.some(1, t).best()), p, "a gate of 0: the solution of the other pairs"));
    points.push_back(rival_law(is(x.some(0, t - 1).best()), p, "the last pair dropped instead"));
  }
  // One key twice, values 0 and 1, weights 1 and 2: the weighted mean.
  const Pairs twice(Dense(2, 1, {1, 1}), Dense(2, 1, {0, 1}));
  const Params p = labels({{"case", txt("a repeated key, weights 1 and 2")}});
  const auto read = [&](double a, double b) { return scaled(twice, {a, b}).best()(0, 0); };
  points.push_back(as_statement(exact_point(read(1, 2), 0.5, 64), p, "the plain mean, 1/2"));
  const Point mean = as_obligation(exact_point(read(1, 2), 2.0 / 3, 64), p, "the weighted mean, 2/3");
  points.push_back(mean);
  points.push_back(rival_system(exact_point(read(2, 1), 2.0 / 3, 64), p, "weights 2 and 1"));
  points.push_back(rival_law(mean, "weights by their roots", std::sqrt(2.0) / (1 + std::sqrt(2.0))));
  points.push_back(rival_law(mean, "weights squared", 0.8));
  return points;
}

Claim zero_claim() {
  return explained(
      at_parameters(
          refuted_row(
              "wls-weights-irrelevant-gamma-zero",
              stricter("Eq 15 and the sentence after it: the weights are 'irrelevant' in the underdetermined case.",
                       "$gamma_i$ in [0, 1]; rank $t$",
                       "The reason given, interpolation of all points, presumes that all points count."),
              "003 Eq 15 with gamma in [0, 1]",
              "The underdetermined solution is the same for every admissible $gamma$ in [0, 1].",
              "$gamma_i > 0$ and independent keys are needed: a gate of 0 drops every pair before it from the "
              "solution, and a repeated key reads the weighted mean of its values.",
              zero_weight),
          pair_params({1, 1, 3, 7, 2})),
      "The stated range includes 0. The text means weights that count.");
}

} // namespace

std::vector<Claim> vignette_2_weighted() { return {monotone_claim(), over_claim(), under_claim(), zero_claim()}; }

} // namespace recollect::theory
