// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 2: least squares with decaying weights (Eq 14-15).
#include "theory/test_time_regression/decays.hpp"

namespace recollect::theory {
namespace {
Vector power(Vector w, double exponent) {
  for (double &x : w) x = std::pow(x, exponent);
  return w;
}

Claim monotone() {
  ClaimBuilder c("decay-weights-monotone", "003 Eq 14");
  c.says("With $gamma_i^(t) = prod_{j=i+1..t} gamma_j$ and $gamma_j$ in [0, 1] each association is down-weighted by "
         "its distance from the present: $gamma_1^(t) <= ... <= gamma_t^(t) = 1$.");
  c.exactly("The statement is exact.");
  c.because("The weights are measured as reads of gated linear attention at orthonormal keys.");
  c.runs({"gated_linear", "mamba2"}), c.takes({integer_param("t", 12, 2, 64, "pairs")});
  return measure(c, [](Points &points, Seed seed, int t) {
    // Orthonormal keys and one-hot values: channel i of the read at k_i is the weight of pair i.
    const Pairs x(orthonormal(t, t, seed), Dense::identity(t));
    const auto read = [&](const Vector &alpha, const std::string &variant = "gated_linear", double last_write = 1) {
      Sequence s = x.sequence();
      s.alpha = alpha, s.beta.assign(t, 1), s.beta.back() = last_write;
      return diagonal_of(memory(run(variant, s), s.shape) * transpose(x.K));
    };
    const auto least_rise = [&](const Vector &w) {
      double least = HUGE_VAL;
      for (int i = 0; i + 1 < t; ++i) least = std::min(least, w[i + 1] - w[i]);
      return at_least_point(least, 0, 16.0 * t * epsilon_of(Real::f64));
    };
    const Vector gamma = gates(t, seed);
    Vector edges = gamma, reversed(t, 1.0);
    edges[t / 2] = 0, edges[t - 1] = 1;
    for (int i = 0; i < t; ++i)
      for (int j = 1; j <= i; ++j) reversed[i] *= gamma[j];
    points.rounding(16.0 * t);
    points.statement("$gamma_i^(t)$ is the product of the gates after i", read(gamma), weights(gamma))
        .but_not("the product from i on: $gamma_t$ at $i = t$", weights(gamma, Product::from))
        .but_not("the product of the gates up to i", reversed);
    points.statement("$gamma_i^(t)$ does not decrease with i", least_rise(read(gamma)));
    points.statement("$gamma_i^(t)$ is the product of the gates after i, with gates of 0 and 1", read(edges),
                     weights(edges));
    points.statement("$gamma_i^(t)$ does not decrease with i, with gates of 0 and 1", least_rise(read(edges)));
    points.statement("weight of the newest pair: $gamma_t^(t) = 1$", read(gamma).back(), 1);
    points.wrong_system("$gamma_i^(t)$ does not decrease with i, with a last write of strength 0.1",
                        least_rise(read(gamma, "mamba2", 0.1)));
  });
}

/// Pairs whose keys have length 1.
Pairs unit_pairs(const Shape &shape, Seed seed) {
  Pairs x(shape, seed);
  normalise_rows(x.K.data, x.K.columns);
  return x;
}
Pairs scaled(const Pairs &x, const Vector &w) {
  const Dense root = diagonal(power(w, 0.5));
  return {root * x.K, root * x.V};
}

Claim weighted_over() {
  ClaimBuilder c("wls-eq15-over", "003 Eq 15");
  c.says("Weighted least squares is least squares on keys and values that are multiplied by the square roots of their "
         "weights. If $t >= Dk$ ($K^T G K$ invertible), the solution is $V^T G K (K^T G K)^{-1}$, where $G$ is the "
         "diagonal matrix of the weights $gamma_i^(t)$.");
  c.exactly("This is an identity.");
  c.because("The square roots of the weights occur twice in each product, as their squares $gamma_i^(t)$.");
  c.takes(pair_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Pairs x = unit_pairs(shape, seed);
    if (x.K.rows <= x.K.columns)
      usage_error("take t > Dk: the first form of Eq 15 needs t >= Dk, and at t = Dk the weights drop out");
    const Vector gamma = gates(x.K.rows, seed), w = weights(gamma);
    const Dense M = scaled(x, w).best();
    const double units = solved_units(scaled(x, w).K, M) + solved_units(x.K, M);
    const auto formula = [&](const Vector &u) {
      const Dense G = diagonal(u);
      return exact_point(M.data, (transpose(x.V) * G * x.K * inverse(transpose(x.K) * G * x.K)).data, units);
    };
    points.statement("least squares on rescaled pairs = $V^T G K (K^T G K)^{-1}$", formula(w))
        .but_not("$G^{1/2}$ in the formula", formula(power(w, 0.5)))
        .but_not("$G^2$ in the formula", formula(power(w, 2)))
        .but_not("the formula without weights", formula(Vector(w.size(), 1)))
        .but_not("weights that are the product from i on", formula(weights(gamma, Product::from)));
    // At the solution the gradient of the weighted loss vanishes.
    const Dense G = diagonal(w);
    points.rounding(units * x.K.rows);
    points.statement("the gradient of the weighted loss is 0 at the solution", M * transpose(x.K) * G * x.K,
                     transpose(x.V) * G * x.K);
    points.wrong_system("the gradient of the weighted loss is 0 at least squares without weights",
                        x.best() * transpose(x.K) * G * x.K, transpose(x.V) * G * x.K);
  });
}

Claim weighted_under() {
  ClaimBuilder c("wls-eq15-under-weights-irrelevant", "003 Eq 15");
  c.says("In the underdetermined case the weights are irrelevant: infinitely many memories interpolate, and the one of "
         "smallest norm is $V^T (K K^T)^{-1} K$, weighted or not.");
  c.exactly("This is true for positive weights and independent keys: the square roots of the weights cancel.");
  c.because("If zero loss is possible, every pair is fitted exactly, whatever its weight.");
  c.takes(pair_params({1, 1, 3, 5, 3}));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Pairs x = unit_pairs(shape, seed);
    if (x.K.rows >= x.K.columns || x.K.rows < 2) usage_error("the second form of Eq 15 needs 1 < t < Dk");
    const Vector w = weights(gates(x.K.rows, seed));
    const Dense M = scaled(x, w).best(), inverted = inverse(x.K * transpose(x.K));
    points.rounding(solved_units(scaled(x, w).K, M) + solved_units(x.K, M));
    points.statement("the weights drop out: $V^T (K K^T)^{-1} K$", M, transpose(x.V) * inverted * x.K)
        .but_not("$V^T G (K K^T)^{-1} K$", transpose(x.V) * diagonal(w) * inverted * x.K)
        .but_not("gated linear attention", transpose(x.V) * diagonal(w) * x.K);
    Pairs other(Dense(shape.T, shape.Dk), x.V); // more pairs than dimensions, so that the weights matter
    for (int i = 0; i < shape.T; ++i) other.K(i, 0) = x.K(i, 0);
    points.wrong_system("keys on one line: the weights drop out", scaled(other, w).best(), other.best());
  });
}

Claim zero_weight() {
  ClaimBuilder c("wls-weights-irrelevant-gamma-zero", "003 Eq 15 with gamma in [0, 1]");
  c.says("In the underdetermined case the solution is the same for all gates $gamma$ in [0, 1].");
  c.exactly("The statement needs $gamma_i > 0$ and independent keys. A gate of 0 removes all earlier pairs from the "
            "solution. If a key is repeated, the read at this key is the weighted mean of its values.");
  c.because("The stated range includes 0. The paper means positive weights.");
  c.is_refuted(stricter("Eq 15 and the sentence after it: the weights are 'irrelevant' in the underdetermined case.",
                        "$gamma_i$ in [0, 1]; rank $t$",
                        "The reason given, interpolation of all points, presumes that all points count."));
  c.takes(pair_params({1, 1, 3, 7, 2}));
  c.last([](Points &points, const Protocol &) {
    // One key stored twice, with the values 0 and 1 and the weights 1 and 2: the read is the weighted mean.
    const Pairs twice(Dense(2, 1, {1, 1}), Dense(2, 1, {0, 1}));
    const auto read = [&](double a, double b) { return scaled(twice, {a, b}).best()(0, 0); };
    points.at(labels({{"case", txt("a repeated key, weights 1 and 2")}})).rounding(64);
    points.statement("read at a repeated key: the plain mean, $1/2$", read(1, 2), 0.5);
    points.obligation("read at a repeated key: the weighted mean, $2/3$", read(1, 2), 2.0 / 3)
        .but_not("the mean with the square roots of the weights", std::sqrt(2.0) / (1 + std::sqrt(2.0)))
        .but_not("the mean with the squared weights", 0.8);
    points.wrong_system("read at a repeated key, weights 2 and 1: $2/3$", read(2, 1), 2.0 / 3);
  });
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Pairs x(shape, seed);
    const int t = shape.T;
    if (t < 2 || t >= shape.Dk) usage_error("t must be above 1 and below Dk, for a weight of 0 among independent keys");
    Vector w(t, 1.0);
    w[0] = 0;
    const Dense ignored = scaled(x, w).best();
    const auto is = [&](const Dense &M) { return exact_point(ignored.data, M.data, 16 * solved_units(x.K, M)); };
    points.statement("a gate of 0: the same solution", is(x.best()));
    points.obligation("a gate of 0: the solution of the other pairs", is(x.some(1, t).best()))
        .but_not("the solution without the last pair, not without the first", is(x.some(0, t - 1).best()));
  });
}
} // namespace

std::vector<Claim> vignette_2_weighted() { return {monotone(), weighted_over(), weighted_under(), zero_weight()}; }
} // namespace recollect::theory
