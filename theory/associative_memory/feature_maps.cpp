// SPDX-License-Identifier: Apache-2.0
// Finite feature maps against the kernels that they stand for (000 §2.1.1, Eq 8-9; the maps' own papers): exact ones,
// and random ones with their bias and variance. After one step the normaliser row of such a memory's state is phi(k)
// itself.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

/// phi(x): the last row of the state after one write with the key x.
Vector features(const std::string &variant, const Vector &x, const Assignments &settings) {
  Sequence s;
  s.shape = {1, 1, 1, int(x.size()), 1};
  s.q = s.k = x, s.v = {1};
  const Variant &found = find_variant(variant);
  const Output output = forward(found, s, {"recurrent", Real::f64, 1, variant_params(found, settings)});
  return Vector(output.state.end() - output.state_shape.columns, output.state.end());
}

/// Two vectors of squared norm `square` each at a given cosine.
struct Pair {
  Vector x, y;
};
Pair draw_pair(int d, double square, double cosine, std::uint64_t seed) {
  Pair pair{Stream(seed, 221).normals(d), Stream(seed, 222).normals(d)};
  const double leak = inner(pair.x, pair.y) / inner(pair.x, pair.x);
  for (int c = 0; c < d; ++c) pair.y[c] -= leak * pair.x[c];
  const double along = std::sqrt(square / inner(pair.x, pair.x)), across = std::sqrt(square / inner(pair.y, pair.y));
  for (int c = 0; c < d; ++c) {
    pair.x[c] *= along;
    pair.y[c] = cosine * pair.x[c] + std::sqrt(1 - cosine * cosine) * across * pair.y[c];
  }
  return pair;
}

std::vector<Point> exact_maps(const Protocol &protocol) {
  std::vector<Point> points;
  const int d = 6;
  const Pair p = draw_pair(d, 1.5, 0.6, protocol.seed);
  const double s = inner(p.x, p.y);
  double cosh_sum = 0;
  for (int c = 0; c < d; ++c) cosh_sum += 2 * std::cosh(p.x[c] + p.y[c]);
  const auto kernel = [&](const std::string &variant, const Assignments &settings) {
    return inner(features(variant, p.x, settings), features(variant, p.y, settings));
  };
  const auto place = [](const std::string &variant, const std::string &quantity) {
    return labels({{"variant", txt(variant)}, {"quantity", txt(quantity)}});
  };
  const double based = kernel("based", {{"scale", "1"}});
  points.push_back(at(exact_point(based, 1 + s + s * s / 2, 64.0 * d * d, 1e-3), "exact",
                      place("based", "phi.phi against 1 + s + s^2/2")));
  points.push_back(at(bounded_point(std::fabs(std::exp(s) - based), Point::at_most,
                                    std::pow(std::fabs(s), 3) * std::exp(std::fabs(s)) / 6, 1e-13, 1e-2),
                      "exact", place("based", "|e^s - phi.phi| against |s|^3 e^|s| / 6")));
  points.push_back(at(exact_point(kernel("hedgehog", {}), cosh_sum, 64.0 * d * cosh_sum, 1e-3), "exact",
                      place("hedgehog", "phi.phi against 2 sum cosh(q_j + k_j)")));
  double elu = 0;
  for (int c = 0; c < d; ++c) {
    const auto phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
    elu += phi(p.x[c]) * phi(p.y[c]);
  }
  points.push_back(at(exact_point(kernel("linear_elu", {}), elu, 64.0 * d * elu, 1e-3), "exact",
                      place("linear_elu", "phi.phi against sum phi(q_j) phi(k_j), phi = elu + 1")));
  return points;
}

/// Over many seeds of the features: mean exp(q.k); for independent frequencies Performer's variance is kappa^2
/// (e^{|q+k|^2} - 1) / F and that of the trigonometric features e^{|q|^2+|k|^2} (1 - e^{-|q-k|^2})^2 / (2 F).
/// Performer's are orthogonal, which only lowers its own.
std::vector<Point> random_maps(const Protocol &protocol) {
  std::vector<Point> points;
  const double square = 0.15; // |q + k|^2 = 0.375: the fourth moment behind the variance's own error is tame
  const int d = 6, F = 16, draws = protocol.full() ? 6000 : 1500;
  const Pair p = draw_pair(d, square, 0.25, protocol.seed);
  const double s = inner(p.x, p.y), kappa = std::exp(s);
  const double performer = kappa * kappa * std::expm1(2 * square + 2 * s) / F,
               trigonometric = std::exp(2 * square) * std::pow(-std::expm1(-2 * square + 2 * s), 2) / (2 * F);
  for (const std::string variant : {"performer", "random_feature"}) {
    Vector values, squares;
    for (int draw = 0; draw < draws; ++draw) {
      const Assignments settings{
          {"seed", number(double(protocol.seed % 1000) * 1e5 + draw)}, {"features", number(F)}, {"scale", "1"}};
      values.push_back(inner(features(variant, p.x, settings), features(variant, p.y, settings)));
      squares.push_back((values.back() - kappa) * (values.back() - kappa));
    }
    const Mean mean = mean_of(values), variance = mean_of(squares);
    const auto place = [&](const std::string &quantity) {
      return labels({{"variant", txt(variant)}, {"d", num(d)}, {"features", num(F)}, {"quantity", txt(quantity)}});
    };
    points.push_back(at(sampled_point(mean.mean, kappa, mean.standard_error, 0.2 * kappa), "exact",
                        place("mean of phi(q).phi(k) against exp(q.k)")));
    if (variant == "performer")
      points.push_back(at(bounded_point(variance.mean, Point::at_most, performer,
                                        allowed_standard_errors * variance.standard_error, performer),
                          "exact", place("variance against kappa^2 (e^(|q+k|^2) - 1) / F of independent features")));
    else
      points.push_back(at(sampled_point(variance.mean, trigonometric, variance.standard_error, trigonometric), "exact",
                          place("variance against e^(|q|^2+|k|^2) (1 - e^(-|q-k|^2))^2 / (2F)")));
  }
  return points;
}

} // namespace

std::vector<Claim> feature_maps() {
  Claim exact =
      ledger_row("feature-maps-exact", "000 Eq 8-9; Arora et al. 2024, Zhang et al. 2024, Katharopoulos et al. 2020",
                 "A finite feature map gives the linear memory a kernel phi(q).phi(k).",
                 "Based is the exp kernel's series to second order, off by at most |s|^3 e^|s| / 6; Hedgehog at its "
                 "initial weights is 2 sum cosh(q_j + k_j); elu + 1 acts channel by "
                 "channel.",
                 exact_maps);
  Claim random = ledger_row("feature-maps-random", "000 Eq 8-9; Choromanski et al. 2021, Peng et al. 2021",
                            "Random features approximate the exp kernel without bias.",
                            "The mean is exp(q.k); the variance falls like 1/F, with the constants kappa^2 "
                            "(e^(|q+k|^2) - 1) for positive features (an upper bound where they are "
                            "orthogonal) and e^(|q|^2+|k|^2) (1 - e^(-|q-k|^2))^2 / 2 for trigonometric ones.",
                            random_maps);
  exact.covers = random.covers = {}; // the issue's, not the ledger's
  return {running(exact, {"based", "hedgehog", "linear_elu"}), running(random, {"performer", "random_feature"})};
}

} // namespace recollect::theory
