// SPDX-License-Identifier: Apache-2.0
// Kernels as inner products of features (000 Eq 8-9): which similarities have a feature map, and the finite feature
// maps, exact or random, that layers use to replace the exp kernel.
#include "theory/associative_memory/similarity/vector_pair.hpp"
#include "theory/support/features.hpp"
#include "theory/support/hermite.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {
/// kappa(x_i, x_j) of every pair of rows, from reads of this variant.
Dense gram(const std::string &variant, const Dense &rows, const Assignments &set = {}) {
  const int n = rows.rows;
  Dense matrix(n, n);
  for (int i = 0; i < n; ++i) {
    Sequence s = of_shape({1, 1, n, rows.columns, n});
    s.k = rows.data, s.v = Dense::identity(n).data;
    s.q.assign(s.k.size(), 0.0);
    std::copy_n(&rows.data[size_t(i) * rows.columns], rows.columns, s.q.end() - rows.columns);
    const Vector o = results_of(variant, s, set);
    std::copy_n(o.begin() + size_t(n - 1) * n, n, &matrix(i, 0));
  }
  return 0.5 * (matrix + transpose(matrix));
}
double smallest_eigenvalue(const Dense &matrix) { return symmetric_eigenvalues(matrix).front(); }

/// n unit vectors of the plane, neighbours `degrees` apart.
Dense fan(int n, double degrees) {
  Dense rows(n, 2);
  for (int i = 0; i < n; ++i)
    rows(i, 0) = std::cos(i * degrees * M_PI / 180), rows(i, 1) = std::sin(i * degrees * M_PI / 180);
  return rows;
}

Claim relu_kernel_psd() {
  ClaimBuilder c("relu-kernel-psd", "000 §2.1.1 with Eq 8-9, 14");
  c.says("Stricter reading: the ReLU kernel ReLU(x.y) has a feature map, $kappa(x,y) = phi(x).phi(y)$, as Eq 8-9 "
         "define kernels.");
  c.is_refuted(
      stricter("§2.1.1 after Eq 14: the FFN's form 'is consistent with Eq. 9', with the 'kernel function' kappa_ReLU.",
               "Eq 8 and 9 define a kernel by a feature map",
               "The noise analysis that follows uses the similarity's values only."));
  c.exactly("The Gram matrix of four unit vectors 45 degrees apart has the eigenvalue $1 - sqrt(2) cos(pi/5) = "
            "-0.144$, so it is not positive semi-definite and ReLU(x.y) is no inner product of features. The exp and "
            "SoLU kernels are positive semi-definite.");
  c.because("The text only calls ReLU consistent with Eq 9. Eq 10 and 15 use only the values of the similarity and "
            "stay valid.");
  c.runs({"relu_kernel", "exp_unnormalized", "solu"});
  c.takes({real_param("degrees", 45, 45, 90, "angle between neighbours")}), c.at({{}, {{"degrees", 50}}});
  // from 45 to 90 degrees only neighbours have a positive product, so ReLU's Gram matrix is tridiagonal
  constexpr int n = 4;
  constexpr double units = 64; // bound for an eigenvalue of a 4 x 4 matrix of norm below 6
  const auto relu = [](double degrees) { return smallest_eigenvalue(gram("relu_kernel", fan(n, degrees))); };
  c.also([relu](Points &points, const Protocol &) {
    points.at({{"degrees", 90}})
        .rounding(units)
        .obligation("smallest eigenvalue of the ReLU kernel's Gram matrix for vectors 90 degrees apart: 1", relu(90),
                    1);
  });
  return measure(c, [relu](Points &points, const Params &p, double degrees) {
    const double cosine = std::cos(degrees * M_PI / 180), found = relu(degrees);
    const auto law = [&](int vectors) { return 1 - 2 * cosine * std::cos(M_PI / (vectors + 1)); };
    const auto no_violation = [](double least) { return at_least_point(least, 0, units * epsilon_of(Real::f64)); };
    if (law(n) >= 0) usage_error("four vectors violate semi-definiteness up to 51.8 degrees apart only");
    points.rounding(units).statement("smallest eigenvalue of the ReLU kernel's Gram matrix, at least 0",
                                     no_violation(found));
    points
        .obligation("smallest eigenvalue of the ReLU kernel's Gram matrix, against $1 - 2 cos(angle) cos(pi/5)$", found,
                    law(n))
        .but_not("the eigenvalue for five vectors", law(n + 1));
    const double tau = 2;
    for (const std::string kernel : {"exp_unnormalized", "solu"}) {
      const Dense rows = fan(n, degrees);
      Dense host = rows * transpose(rows);
      for (double &x : host.data) x = (kernel == "solu" ? x : 1) * std::exp(x / tau);
      const double least = smallest_eigenvalue(gram(kernel, rows, {{"scale", "1"}, {"tau", number(tau)}}));
      points.at(Params(p).set("kernel", kernel)).wrong_system("another kernel on the same points", least, law(n));
      points.obligation("smallest eigenvalue of a kernel that has a feature map", least, smallest_eigenvalue(host));
      points.obligation("smallest eigenvalue of a kernel that has a feature map, at least 0", no_violation(least));
    }
  });
}

/// phi(x) and phi(y) of every pair. After one write with the key x, phi(x) is the second row of the state, the
/// normaliser. If the state has a third row, it holds peaks, and the second row is in units of e^peak.
std::vector<VectorPair> features_of(const std::string &variant, const std::vector<VectorPair> &pairs,
                                    const Assignments &set = {}) {
  const int d = int(pairs[0].x.size()), count = int(pairs.size());
  Sequence s = of_shape({count, 2, 1, d, 1});
  for (const VectorPair &pair : pairs)
    for (const Vector &key : {pair.x, pair.y}) s.k.insert(s.k.end(), key.begin(), key.end());
  s.q = s.k, s.v.assign(size_t(2) * count, 1.0);
  const Output output = run(variant, s, set);
  const size_t size = output.state_shape.size(), width = output.state_shape.columns;
  std::vector<VectorPair> all;
  for (int m = 0; m < count; ++m) {
    const auto phi = [&](size_t head) {
      const auto row = output.state.begin() + head * size + width;
      Vector features(row, row + width);
      for (size_t j = 0; output.state_shape.rows == 3 && j < width; ++j) features[j] *= std::exp(row[width + j]);
      return features;
    };
    all.push_back({phi(2 * m), phi(2 * m + 1)});
  }
  return all;
}
/// phi(x).phi(y).
double kernel_of(const std::string &variant, const VectorPair &pair, const Assignments &set = {}) {
  const VectorPair phi = features_of(variant, {pair}, set)[0];
  return inner(phi.x, phi.y);
}

const ParamSpec key_width = key_width_param(6, 2, 32);
/// The ledger has no row for the feature maps of these layers.
Claim without_row(Claim claim) {
  claim.covers = {};
  return claim;
}

Claim feature_maps_exact() {
  ClaimBuilder c("feature-maps-exact", "000 Eq 8-9; Arora et al. 2024, Zhang et al. 2024, Katharopoulos et al. 2020");
  c.says("A finite feature map gives the linear memory the kernel $phi(q).phi(k)$.");
  c.exactly("The features of Based give the exp kernel's Taylor series to second order, with an error of at most "
            "$|s|^3 e^|s| / 6$ for $s = q.k$. The features of Hedgehog give $2 sum cosh(q_j + k_j)$ at the initial "
            "weights. elu + 1 acts on each channel separately.");
  c.runs({"based", "hedgehog", "linear_elu"});
  c.takes({key_width, real_param("product", 0.9, 0.3, 1.2, "inner product of the two keys")});
  return without_row(measure(c, [](Points &points, Seed seed, const Params &p, int d, double s) {
    const double units = 64.0 * d * d;
    const VectorPair pair = draw_pair(d, 1.5, s, seed);
    const auto summed = [&](const auto &f) {
      double sum = 0;
      for (int i = 0; i < d; ++i) sum += f(pair.x[i], pair.y[i]);
      return sum;
    };
    const auto at = [&](const char *variant) -> Points & { return points.at(Params(p).set("variant", variant)); };
    const double based = kernel_of("based", pair, {{"scale", "1"}}), linear_elu = kernel_of("linear_elu", pair);
    const auto near_exp = [s](double kernel) {
      return at_most_point(std::fabs(std::exp(s) - kernel), std::pow(std::fabs(s), 3) * std::exp(std::fabs(s)) / 6,
                           1e-13);
    };
    at("based").rounding(units);
    points.statement("$phi(q).phi(k)$ of Based, against $1 + s + s^2/2$", based, 1 + s + s * s / 2)
        .but_not("$s^2$ in place of $s^2/2$", 1 + s + s * s);
    points.obligation("$|e^s - phi(q).phi(k)|$ of Based, at most $|s|^3 e^|s| / 6$", near_exp(based));
    at("linear_elu").wrong_system("the features elu + 1", near_exp(linear_elu));
    const double cosh_sum = summed([](double x, double y) { return 2 * std::cosh(x + y); });
    at("hedgehog").rounding(units * cosh_sum);
    points
        .statement("$phi(q).phi(k)$ of Hedgehog, against $2 sum cosh(q_j + k_j)$", kernel_of("hedgehog", pair),
                   cosh_sum)
        .but_not("$2 sum cosh(q_j - k_j)$", summed([](double x, double y) { return 2 * std::cosh(x - y); }));
    const auto elu_1 = [](double x) { return elu_plus_one(x); };
    const double elu = summed([&](double x, double y) { return elu_1(x) * elu_1(y); });
    at("linear_elu").rounding(units * elu);
    points
        .statement("$phi(q).phi(k)$ of linear_elu, against the sum over channels of products of elu + 1", linear_elu,
                   elu)
        .but_not("elu in place of elu + 1",
                 summed([&](double x, double y) { return (elu_1(x) - 1) * (elu_1(y) - 1); }));
  }));
}

/// F features exp(s x_i - s^2/2) / F, where s = |q + k| and x_i = omega_i.(q + k) / s. Each omega_i is N(0, I), and the
/// omega_i are orthogonal in blocks of d.
struct Orthogonal {
  int F, d;
  /// The share of pairs (i, j) of different features in one block among all F^2 pairs.
  double neighbours() const {
    const double whole = F / d, rest = F % d;
    return (whole * d * (d - 1) + rest * (rest - 1)) / (double(F) * F);
  }
  /// The variance of the sum of independent features.
  double independent(double s) const { return std::expm1(s * s) / F; }
  /// The variance of the sum. |omega_i + omega_j|^2 is chi-square with 2 d degrees of freedom, and the direction of
  /// omega_i + omega_j is uniform, so that E exp(s (x_i + x_j)) = sum_m (s^2 / 2)^m (d)_m / ((d/2)_m m!).
  double variance(double s) const {
    double term = 1, both = 1;
    for (int m = 0; m < 60; ++m) term *= s * s / 2 * (d + m) / ((d / 2.0 + m) * (m + 1)), both += term;
    return independent(s) + neighbours() * (both * std::exp(-s * s) - 1);
  }
  /// The mean square of the sum of the features' Hermite terms up to the third. Odd terms of two features are
  /// uncorrelated, because the sign of a direction is random; E He_2(x_i) He_2(x_j) = d / (d+2) - 1.
  double known(double s) const {
    double own = 0;
    for (int n = 1; n <= 3; ++n) own += hermite_square(s, n) / F;
    return own - neighbours() * std::pow(s, 4) / 4 * 2 / (d + 2);
  }
};

Claim feature_maps_random() {
  ClaimBuilder c("feature-maps-random", "000 Eq 8-9; Choromanski et al. 2021, Peng et al. 2021");
  c.says("Random features approximate the exp kernel without bias.");
  c.exactly("The mean is $kappa = exp(q.k)$. The variance falls as $1/F$ with the number $F$ of features. $F$ times "
            "the variance is $kappa^2 (e^(|q+k|^2) - 1)$ for positive features (an upper bound if they are orthogonal) "
            "and $e^(|q|^2+|k|^2) (1 - e^(-|q-k|^2))^2 / 2$ for trigonometric features.");
  c.runs({"performer", "random_feature"});
  c.takes({key_width, integer_param("features", 4, 2, 256, "random features F")});
  // A feature is an exponential or a cosine of a Gaussian number. Its Hermite terms have a known mean, so they are a
  // control variate. Every seed of the layer is used on many pairs (q, k) with the same inner product.
  return without_row(measure(c, [](Points &points, const Protocol &protocol, const Params &p, int d, int F) {
    const int rotations = 32;
    const double square = 0.15, s = 0.0375, kappa = std::exp(s), sum = std::sqrt(2 * square + 2 * s), // |q + k|
        difference = std::sqrt(2 * square - 2 * s);
    std::vector<VectorPair> pairs;
    for (int i = 0; i < rotations; ++i) pairs.push_back(draw_pair(d, square, s, protocol.seed + 1000 * i));
    /// The Hermite terms in omega_i.(q + k) and omega_i.(q - k) of a feature's share of phi(q).phi(k) / kappa - 1.
    const auto performer_terms = [&](const VectorPair &phi, int i) {
      return summed(hermite_terms(sum, (std::log(phi.x[i] * phi.y[i] * F) + square) / sum, 3));
    };
    const auto trigonometric_terms = [&](const VectorPair &phi, int i) {
      const double turn = std::atan2(phi.x[i], phi.x[F + i]) - std::atan2(phi.y[i], phi.y[F + i]);
      const Vector terms = hermite_terms(difference, turn / difference, 6);
      return terms[3] - terms[1] - terms[5];
    };
    Vector means; // means of the last variant measured
    const auto variance_of = [&](const std::string &variant, const auto &terms, double known) {
      means.clear();
      const auto squares_of = [&](size_t first, size_t count) {
        Vector squares;
        for (size_t draw = first; draw < first + count; ++draw) {
          double mean = 0, spread = 0;
          const Assignments set{{"seed", number(double(protocol.seed % 1000) * 1e5 + double(draw))},
                                {"features", number(F)},
                                {"scale", "1"}};
          for (const VectorPair &phi : features_of(variant, pairs, set)) {
            const double off = inner(phi.x, phi.y) / kappa - 1;
            double expanded = 0;
            for (int i = 0; i < F; ++i) expanded += terms(phi, i) / F;
            mean += kappa * (1 + off - expanded) / rotations;
            spread += kappa * kappa * (off * off - expanded * expanded + known) / rotations;
          }
          means.push_back(mean), squares.push_back(spread);
        }
        return squares;
      };
      return sample_mean(std::min(wanted_sensitivity(protocol), fine), 200, protocol.full() ? 20000 : 1500, squares_of);
    };
    const auto unbiased = [&](const char *variant) {
      points.at(Params(p).set("variant", variant));
      points.statement("mean of $phi(q).phi(k)$, against $exp(q.k)$", mean_of(means), kappa)
          .but_not("exp(2 q.k)", kappa * kappa);
    };
    const Orthogonal rows{F, d};
    const Mean performer = variance_of("performer", performer_terms, rows.known(sum));
    const double bound = kappa * kappa * rows.independent(sum), law = kappa * kappa * rows.variance(sum);
    unbiased("performer");
    points.obligation(
        "variance of orthogonal positive features, at most $kappa^2 (e^(|q+k|^2) - 1) / F$, that of independent ones",
        at_most_point(performer, bound));
    points.wrong_system("at most half of this bound", at_most_point(performer, bound / 2));
    auto orthogonal = points.obligation("variance of orthogonal positive features, against its law", performer, law);
    if (bound - law > 13 * performer.standard_error) orthogonal.but_not("the variance of independent features", bound);
    double known = 0;
    for (int n : {2, 4, 6}) known += hermite_square(difference, n) / F;
    const Mean trigonometric = variance_of("random_feature", trigonometric_terms, known);
    const double cosines = std::exp(2 * square) * std::pow(std::expm1(-difference * difference), 2) / (2 * F);
    unbiased("random_feature");
    auto variance =
        points.obligation("variance of trigonometric features, against $e^(|q|^2+|k|^2) (1 - e^(-|q-k|^2))^2 / (2F)$",
                          trigonometric, cosines);
    variance.but_not("F in place of 2F", 2 * cosines);
    if (F <= 64) variance.but_not("$F + 1$ in place of $F$", cosines * F / (F + 1));
  }));
}
} // namespace

std::vector<Claim> eq_8_feature_maps() { return {relu_kernel_psd(), feature_maps_exact(), feature_maps_random()}; }
} // namespace recollect::theory
