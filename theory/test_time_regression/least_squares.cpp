// SPDX-License-Identifier: Apache-2.0
// Vignettes 1 and 2 of 003 as matrix identities: linear least squares, weighted least squares, and when linear
// attention, which drops the key covariance, is optimal. K [t,Dk] and V [t,Dv] hold keys and values as rows, M [Dv,Dk]
// is the memory.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

Dense gaussian(int rows, int columns, std::uint64_t seed, std::uint64_t stream) {
  return {rows, columns, Stream(seed, stream).normals(size_t(rows) * columns)};
}
Dense diagonal(const std::vector<double> &values) {
  Dense d = Dense::identity(int(values.size()));
  for (int i = 0; i < d.rows; ++i) d(i, i) = values[i];
  return d;
}
struct Data {
  Dense K, V;
  Data(int t, int Dk, int Dv, std::uint64_t seed) : K(gaussian(t, Dk, seed, 81)), V(gaussian(t, Dv, seed, 82)) {}
};

/// Gap of two memories, and the rounding units of a solve with K^T K: t Dk terms times the square of K's condition
/// number.
Point equal_memories(const Dense &a, const Dense &b, const Dense &K, const std::string &tier, const Params &label) {
  const std::vector<double> s = singular_values(K);
  const double condition = s.front() / s.back(), size = std::max(1.0, max_abs(b.data));
  return at(
      exact_point(max_difference(a.data, b.data), 0, double(K.rows) * K.columns * condition * condition * size, 0.01),
      tier, label);
}

Dense over(const Data &x) { return transpose(x.V) * x.K * inverse(transpose(x.K) * x.K); }
Dense under(const Data &x) { return transpose(x.V) * inverse(x.K * transpose(x.K)) * x.K; }
Dense minimum_norm(const Data &x) { return transpose(x.V) * transpose(pseudo_inverse(x.K)); }
Dense gradient(const Dense &M, const Data &x) { return (M * transpose(x.K) - transpose(x.V)) * x.K; }

Params sizes(const Data &x) { return labels({{"t", num(x.K.rows)}, {"Dk", num(x.K.columns)}}); }

Dense linear_memory(const Data &x) {
  Sequence s;
  s.shape = {1, 1, x.K.rows, x.K.columns, x.V.columns};
  s.q = s.k = x.K.data, s.v = x.V.data;
  return {x.V.columns, x.K.columns, forward(find_variant("linear"), s, {"chunked", Real::f64, 16, {}}).state};
}

std::vector<double> decays(int t, double gamma) {
  std::vector<double> weights(t);
  for (int i = 0; i < t; ++i) weights[i] = std::pow(gamma, t - 1 - i);
  return weights;
}

std::vector<Point> weighted_over(const Protocol &p) {
  std::vector<Point> points;
  for (double gamma : {0.95, 0.6}) {
    const Data x(12, 4, 3, p.seed);
    std::vector<double> roots = decays(12, gamma);
    const Dense G = diagonal(roots);
    for (double &w : roots) w = std::sqrt(w);
    Data scaled = x;
    scaled.K = diagonal(roots) * x.K, scaled.V = diagonal(roots) * x.V;
    const Dense direct = transpose(x.V) * G * x.K * inverse(transpose(x.K) * G * x.K);
    points.push_back(equal_memories(direct, over(scaled), scaled.K, "exact", labels({{"gamma", num(gamma)}})));
  }
  return points;
}

Dense weighted_under(const Data &x, const std::vector<double> &weights) {
  std::vector<double> roots = weights;
  for (double &w : roots) w = std::sqrt(w);
  Data scaled = x;
  scaled.K = diagonal(roots) * x.K, scaled.V = diagonal(roots) * x.V;
  return minimum_norm(scaled);
}

std::vector<Point> weights_irrelevant(const Protocol &p) {
  std::vector<Point> points;
  for (double gamma : {0.9, 0.3}) {
    const Data x(4, 7, 3, p.seed);
    Data scaled = x;
    scaled.K = diagonal(decays(4, std::sqrt(gamma))) * x.K;
    points.push_back(equal_memories(weighted_under(x, decays(4, gamma)), under(x), scaled.K, "exact",
                                    labels({{"gamma", num(gamma)}})));
  }
  return points;
}

std::vector<Point> weights_relevant(const Protocol &p) {
  const Data x(3, 7, 2, p.seed);
  const Dense all = under(x), without = weighted_under(x, {0, 1, 1});
  const double gap = max_difference(all.data, without.data);
  Data repeated(2, 1, 1, p.seed); // one key twice, values 1 and 0, weights 1 and 2: the read is their weighted mean
  repeated.K = Dense(2, 1, {1, 1}), repeated.V = Dense(2, 1, {0, 1});
  const double read = weighted_under(repeated, {1, 2})(0, 0);
  return {at(exact_point(gap, 0, 1e4, 0.01), "paper", labels({{"case", txt("gamma_1 = 0")}})),
          at(exact_point(read, 0.5, 1e2, 0.01), "paper", labels({{"case", txt("repeated key")}})),
          at(exact_point(read, 2.0 / 3, 1e2, 0.01), "corrected", labels({{"case", txt("repeated key")}})),
          at(exact_point(max_difference((without * transpose(x.K)).data, transpose(x.V).data) > 0.01, 1, 1, 0.5),
             "corrected", labels({{"case", txt("the sample of weight 0 is no longer read")}}))};
}

std::vector<Point> gradient_and_hessian(const Protocol &p) {
  const Data x(9, 4, 3, p.seed);
  const Dense M = gaussian(3, 4, p.seed, 89), E = gaussian(3, 4, p.seed, 90);
  const auto loss = [&](const Dense &m) {
    return 0.5 * std::pow(frobenius_norm(m * transpose(x.K) - transpose(x.V)), 2);
  };
  // The loss is quadratic: its central differences are exact up to rounding, |loss| eps over the step.
  const double first = (loss(M + E) - loss(M - E)) / 2, second = loss(M + E) + loss(M - E) - 2 * loss(M),
               size = loss(M + E) + loss(M - E) + loss(M);
  return {at(exact_point(first, trace(gradient(M, x) * transpose(E)), 64 * size, 0.01 * size), "gradient", sizes(x)),
          at(exact_point(second, trace(E * transpose(x.K) * x.K * transpose(E)), 64 * size, 0.01 * size), "Hessian",
             sizes(x))};
}

std::vector<Point> descent_forms(const Protocol &p) {
  const Data x(9, 4, 3, p.seed);
  const double step = 0.02;
  Dense by_gradient(3, 4), by_residual(3, 4);
  for (int i = 0; i < 20; ++i) {
    by_gradient = by_gradient - step * gradient(by_gradient, x);
    by_residual = by_residual * (Dense::identity(4) - step * (transpose(x.K) * x.K)) + step * (transpose(x.V) * x.K);
  }
  return {equal_memories(by_gradient, by_residual, x.K, "exact", sizes(x))};
}

std::vector<Point> one_step(const Protocol &p) {
  const Data x(9, 4, 3, p.seed);
  return {equal_memories(linear_memory(x), -1.0 * gradient(Dense(3, 4), x), x.K, "exact", sizes(x))};
}

std::vector<Point> one_newton_step(const Protocol &p) {
  std::vector<Point> points;
  const Data x(9, 4, 3, p.seed);
  for (double start : {0.0, 1.0, 10.0}) {
    const Dense M = start * gaussian(3, 4, p.seed, 91);
    points.push_back(equal_memories(M - gradient(M, x) * inverse(transpose(x.K) * x.K), over(x), x.K, "exact",
                                    labels({{"start", num(start)}})));
  }
  return points;
}

} // namespace

std::vector<Claim> least_squares() {
  return {
      ledger_row("wls-eq15-over", "003 Eq 15", "Weighted least squares is V^T G K (K^T G K)^{-1}.",
                 "Least squares on rows scaled by the root of their weight.", weighted_over),
      ledger_row("wls-eq15-under-weights-irrelevant", "003 Eq 15",
                 "With fewer keys than dimensions the weights do not matter.",
                 "True for positive weights and independent keys: the roots cancel.", weights_irrelevant),
      refuted_row("wls-weights-irrelevant-gamma-zero", Scope::boundary, "003 Eq 15 with weights in [0,1]",
                  "The same for every weight in [0,1].",
                  "A weight of 0 drops its sample from the interpolant, and a repeated key reads the weighted mean of "
                  "its values (2/3 here).",
                  weights_relevant),
      ledger_row("ls-gradient-hessian", "003 Eq 19", "The gradient is (M K^T - V^T) K and the Hessian K^T K.",
                 "As a quadratic form in E: tr(E K^T K E^T).", gradient_and_hessian),
      ledger_row("gd-eq20-23", "003 Eq 20-23", "The forms of batch gradient descent agree.", "Identity.",
                 descent_forms),
      ledger_row("linattn-one-gd-step", "003 Eq 24", "One gradient step of size 1 from zero is linear attention.",
                 "Identity.", one_step),
      ledger_row("ls-one-newton-step", "003 Eq 25", "One Newton step reaches the least-squares memory.",
                 "From any start, where K^T K is invertible.", one_newton_step),
  };
}

} // namespace recollect::theory
