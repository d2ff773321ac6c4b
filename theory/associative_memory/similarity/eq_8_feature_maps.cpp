// SPDX-License-Identifier: Apache-2.0
// Kernels as feature maps (000 Eq 8-9): which similarities have one, and finite maps, exact and random, that layers use
// in place of the exp kernel's (the maps' own papers).
#include "harness/core/error.hpp"
#include "theory/associative_memory/delta_rule/vector_pair.hpp"
#include "theory/support/layer_points.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

/// kappa(x_i, x_j) of every pair of rows, off the memory of this variant.
Dense gram(const std::string &variant, const Dense &rows, const Assignments &set = {}) {
  const int n = rows.rows;
  Dense matrix(n, n);
  for (int i = 0; i < n; ++i) {
    Sequence s;
    s.shape = {1, 1, n, rows.columns, n};
    s.k = rows.data, s.v = Dense::identity(n).data;
    s.q.assign(s.k.size(), 0.0);
    std::copy_n(&rows.data[size_t(i) * rows.columns], rows.columns, s.q.end() - rows.columns);
    const Vector o = results_of(variant, s, set);
    std::copy_n(o.begin() + size_t(n - 1) * n, n, &matrix(i, 0));
  }
  return 0.5 * (matrix + transpose(matrix));
}
double smallest_eigenvalue(const Dense &matrix) { return symmetric_eigenvalues(matrix).front(); }

/// Four unit vectors, neighbours `degrees` apart, from 45 to 90: only neighbours have a positive product, and the ReLU
/// Gram matrix is tridiagonal.
std::vector<Point> positive_definiteness(const Protocol &protocol) {
  std::vector<Point> points;
  const int n = 4;
  const auto fan = [&](double degrees) {
    Dense rows(n, 2);
    for (int i = 0; i < n; ++i)
      rows(i, 0) = std::cos(i * degrees * M_PI / 180), rows(i, 1) = std::sin(i * degrees * M_PI / 180);
    return rows;
  };
  const double tau = 2;
  const Assignments unscaled{{"scale", "1"}, {"tau", number(tau)}};
  const double units = 64; // an eigenvalue of a 4 x 4 matrix of norm below 6
  const auto relu = [&](double degrees) { return smallest_eigenvalue(gram("relu_kernel", fan(degrees))); };
  for (const Params &p : points_of(protocol, {labels({{"degrees", num(45)}}), labels({{"degrees", num(50)}})})) {
    const double degrees = p.real("degrees"), law = 1 - 2 * std::cos(degrees * M_PI / 180) * std::cos(M_PI / (n + 1)),
                 found = relu(degrees);
    if (law >= 0) usage_error("four vectors violate semi-definiteness up to 51.8 degrees apart only");
    points.push_back(as_statement(at_least_point(found, 0, units * epsilon_of(Real::f64)), p,
                                  "smallest eigenvalue of the ReLU kernel's Gram matrix"));
    for (const std::string variant : {"exp_unnormalized", "solu"}) {
      Params control = p;
      control.set("kernel", variant);
      const Dense rows = fan(degrees);
      Dense host = rows * transpose(rows);
      for (double &x : host.data) x = (variant == "solu" ? x : 1) * std::exp(x / tau);
      const double kernel = smallest_eigenvalue(gram(variant, rows, unscaled));
      points.push_back(rival_system(exact_point(kernel, law, units), control, "another kernel on the same points"));
      points.push_back(as_obligation(exact_point(kernel, smallest_eigenvalue(host), units), control,
                                     "smallest eigenvalue of a kernel that has a feature map"));
      points.push_back(as_obligation(at_least_point(kernel, 0, units * epsilon_of(Real::f64)), control, "the same"));
    }
    points.push_back(as_obligation(exact_point(found, law, units), p, "smallest eigenvalue, ReLU"));
    points.push_back(
        rival_law(points.back(), "of five vectors", 1 - 2 * std::cos(degrees * M_PI / 180) * std::cos(M_PI / (n + 2))));
  }
  const Params apart = labels({{"degrees", num(90)}});
  points.push_back(as_obligation(exact_point(relu(90), 1, units), apart, "no violation 90 degrees apart"));
  return points;
}

Claim relu_kernel_psd() {
  return explained(
      at_parameters(
          running(refuted_row("relu-kernel-psd",
                              stricter("§2.1.1 after Eq 14: the FFN's form 'is consistent with Eq. 9', with "
                                       "the 'kernel function' kappa_ReLU.",
                                       "Eq 8 and 9 define a kernel by a feature map",
                                       "The noise analysis that follows uses the similarity's values only."),
                              "000 §2.1.1 with Eq 8-9, 14",
                              "The ReLU kernel ReLU(x.y) has a feature map, $kappa(x,y) = phi(x).phi(y)$, as "
                              "kernels are defined in Eq 8-9.",
                              "Four unit vectors 45 degrees apart have a Gram matrix with the eigenvalue $1 - "
                              "sqrt(2) cos(pi/5) = -0.144$: it is no inner product. exp and SoLU are positive "
                              "semi-definite.",
                              positive_definiteness),
                  {"relu_kernel", "exp_unnormalized", "solu"}),
          {real_param("degrees", 45, 45, 90, "angle between neighbours")}),
      "Stricter than the text, which only calls ReLU consistent with Eq 9. Eq 10 and 15 use the similarity's values "
      "alone and stand.");
}

/// phi(x).phi(y) of every pair: after one write with the key x the second row of the state, the normaliser's, is phi(x),
/// in units of e^peak where a third row holds peaks.
Vector kernels_of(const std::string &variant, const std::vector<VectorPair> &pairs, const Assignments &set = {}) {
  const int d = int(pairs[0].x.size()), count = int(pairs.size());
  Sequence s;
  s.shape = {count, 2, 1, d, 1};
  for (const VectorPair &pair : pairs)
    for (const Vector &key : {pair.x, pair.y}) s.k.insert(s.k.end(), key.begin(), key.end());
  s.q = s.k, s.v.assign(size_t(2) * count, 1.0);
  const Variant &layer = find_variant(variant);
  const Output output = forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, set)});
  const size_t size = output.state_shape.size(), width = output.state_shape.columns;
  Vector kernels;
  for (int m = 0; m < count; ++m) {
    const auto phi = [&](size_t head) {
      const auto row = output.state.begin() + head * size + width;
      Vector features(row, row + width);
      for (size_t j = 0; output.state_shape.rows == 3 && j < width; ++j) features[j] *= std::exp(row[width + j]);
      return features;
    };
    const Vector x = phi(2 * m), y = phi(2 * m + 1);
    kernels.push_back(inner(x.data(), y.data(), int(width)));
  }
  return kernels;
}
double kernel_of(const std::string &variant, const VectorPair &pair, const Assignments &set = {}) {
  return kernels_of(variant, {pair}, set)[0];
}

std::vector<Point> exact_maps(const Params &p, std::uint64_t seed) {
  const int d = p.integer("d");
  const double s = p.real("product");
  const VectorPair pair = draw_pair(d, 1.5, s, seed);
  const auto summed = [&](const auto &f) {
    double sum = 0;
    for (int c = 0; c < d; ++c) sum += f(pair.x[c], pair.y[c]);
    return sum;
  };
  const auto elu_1 = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  const auto named = [&](const char *variant) { return Params(p).set("variant", variant); };
  const double based = kernel_of("based", pair, {{"scale", "1"}}), units = 64.0 * d * d, rounding = 1e-13,
               bound = std::pow(std::fabs(s), 3) * std::exp(std::fabs(s)) / 6,
               cosh_sum = summed([](double x, double y) { return 2 * std::cosh(x + y); }),
               elu = summed([&](double x, double y) { return elu_1(x) * elu_1(y); });
  std::vector<Point> points{
      as_statement(exact_point(based, 1 + s + s * s / 2, units), named("based"), "phi.phi, second order of exp"),
      rival_law(exact_point(based, 1 + s + s * s / 2, units), "s^2 for s^2/2", 1 + s + s * s),
      as_obligation(at_most_point(std::fabs(std::exp(s) - based), bound, rounding), named("based"),
                    "|e^s - phi.phi| against |s|^3 e^|s| / 6"),
      rival_system(at_most_point(std::fabs(std::exp(s) - kernel_of("linear_elu", pair)), bound, rounding),
                   named("linear_elu"), "elu + 1 for the second order")};
  points.push_back(as_statement(exact_point(kernel_of("hedgehog", pair), cosh_sum, units * cosh_sum), named("hedgehog"),
                                "phi.phi, 2 sum cosh(q_j + k_j)"));
  points.push_back(rival_law(points.back(), "2 sum cosh(q_j - k_j)",
                             summed([](double x, double y) { return 2 * std::cosh(x - y); })));
  points.push_back(as_statement(exact_point(kernel_of("linear_elu", pair), elu, units * elu), named("linear_elu"),
                                "phi.phi, sum of products of elu + 1"));
  points.push_back(rival_law(points.back(), "elu without 1",
                             summed([&](double x, double y) { return (elu_1(x) - 1) * (elu_1(y) - 1); })));
  return points;
}

Claim feature_maps_exact() {
  const std::vector<ParamSpec> params{integer_param("d", 6, 2, 32, "key width"),
                                      real_param("product", 0.9, 0.3, 1.2, "inner product of the two keys")};
  Claim claim = running(
      ledger_row("feature-maps-exact",
                 "000 Eq 8-9; Arora et al. 2024, Zhang et al. 2024, "
                 "Katharopoulos et al. 2020",
                 "A finite feature map gives the linear memory the kernel $phi(q).phi(k)$.",
                 "Based is the exp kernel's series to second order, off by at most $|s|^3 e^|s| / 6$; "
                 "Hedgehog at its initial weights is $2 sum cosh(q_j + k_j)$; elu + 1 acts channel by "
                 "channel.",
                 [params](const Protocol &protocol) { return exact_maps(point_of(protocol, params), protocol.seed); }),
      {"based", "hedgehog", "linear_elu"});
  claim.covers = {}; // no row of the ledger: the maps that the registry's layers name
  return at_parameters(claim, params);
}

/// The mean is exp(q.k) over seeds of the features; for independent frequencies Performer's variance is kappa^2
/// (e^{|q+k|^2} - 1) / F and that of the trigonometric features e^{|q|^2+|k|^2} (1 - e^{-|q-k|^2})^2 / (2 F).
/// Performer's are orthogonal, which only lowers its own. Every seed is tried on many pairs of the same norms and product.
std::vector<Point> random_maps(const Protocol &protocol, const std::vector<ParamSpec> &params) {
  std::vector<Point> points;
  const Params p = point_of(protocol, params);
  const int d = p.integer("d"), F = p.integer("features"), rotations = 32;
  const double square = 0.15, s = 0.0375, kappa = std::exp(s); // |q + k|^2 = 0.375: the variance's own error is tame
  std::vector<VectorPair> pairs;
  for (int i = 0; i < rotations; ++i) pairs.push_back(draw_pair(d, square, s, protocol.seed + 1000 * i));
  const double performer = kappa * kappa * std::expm1(2 * square + 2 * s) / F,
               trigonometric = std::exp(2 * square) * std::pow(-std::expm1(-2 * square + 2 * s), 2) / (2 * F);
  for (const std::string variant : {"performer", "random_feature"}) {
    Vector means;
    const Mean variance =
        sample_mean(wanted_sensitivity(protocol), 500, protocol.full() ? 20000 : 1500, [&](size_t first, size_t count) {
          Vector squares;
          for (size_t draw = first; draw < first + count; ++draw) {
            double mean = 0, spread = 0;
            for (double value : kernels_of(variant, pairs,
                                           {{"seed", number(double(protocol.seed % 1000) * 1e5 + double(draw))},
                                            {"features", number(F)},
                                            {"scale", "1"}}))
              mean += value / rotations, spread += (value - kappa) * (value - kappa) / rotations;
            means.push_back(mean), squares.push_back(spread);
          }
          return squares;
        });
    const Params named = Params(p).set("variant", variant);
    points.push_back(as_statement(sampled_point(mean_of(means), kappa), named, "mean of phi(q).phi(k), exp(q.k)"));
    points.push_back(rival_law(points.back(), "exp(2 q.k)", kappa * kappa));
    if (variant == "performer") {
      points.push_back(rival_system(at_most_point(variance, performer / 2), named, "half the variance"));
      points.push_back(as_obligation(at_most_point(variance, performer), named,
                                     "variance against kappa^2 (e^(|q+k|^2) - 1) / F of independent features"));
    } else {
      points.push_back(as_obligation(sampled_point(variance, trigonometric), named,
                                     "variance against e^(|q|^2+|k|^2) (1 - e^(-|q-k|^2))^2 / (2F)"));
      const Point found = points.back();
      points.push_back(rival_law(found, "F for 2F", 2 * trigonometric));
      if (F <= 4) points.push_back(rival_law(found, "F + 1 for F", trigonometric * F / (F + 1)));
    }
  }
  return points;
}

Claim feature_maps_random() {
  const std::vector<ParamSpec> params{integer_param("d", 6, 2, 32, "key width"),
                                      integer_param("features", 4, 2, 256, "random features F")};
  Claim claim =
      running(ledger_row("feature-maps-random", "000 Eq 8-9; Choromanski et al. 2021, Peng et al. 2021",
                         "Random features approximate the exp kernel without bias.",
                         "The mean is exp(q.k); the variance falls like $1/F$, with the constants $kappa^2 "
                         "(e^(|q+k|^2) - 1)$ for positive features (an upper bound where they are orthogonal) "
                         "and $e^(|q|^2+|k|^2) (1 - e^(-|q-k|^2))^2 / 2$ for trigonometric ones.",
                         [params](const Protocol &protocol) { return random_maps(protocol, params); }),
              {"performer", "random_feature"});
  claim.covers = {}; // no row of the ledger: the maps that the registry's layers name
  return at_parameters(claim, params);
}

} // namespace

std::vector<Claim> eq_8_feature_maps() { return {relu_kernel_psd(), feature_maps_exact(), feature_maps_random()}; }

} // namespace recollect::theory
