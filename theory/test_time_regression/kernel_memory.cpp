// SPDX-License-Identifier: Apache-2.0
// Kernel regression as 003's Vignette 4 begins it: Eq 43 is the least-squares memory in feature space, where its
// inverse exists, and what taking k(K,K) for the identity means. The kernel with few features is (1 + x.y)^2.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "theory/support/one_head.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

/// All products of two of (1, x): phi(x).phi(y) = (1 + x.y)^2, of rank (D + 1)(D + 2) / 2.
Dense quadratic_features(const Dense &X) {
  const int n = X.columns + 1;
  Dense phi(X.rows, n * n);
  for (int i = 0; i < X.rows; ++i)
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) phi(i, a * n + b) = (a ? X(i, a - 1) : 1) * (b ? X(i, b - 1) : 1);
  return phi;
}
Dense quadratic_kernel(const Dense &X, const Dense &Y) {
  Dense k = X * transpose(Y);
  for (double &x : k.data) x = (1 + x) * (1 + x);
  return k;
}

struct Data {
  Dense K, V, Q;
  Data(int t, int D, std::uint64_t seed)
      : K(gaussian(t, D, seed, 121)), V(gaussian(t, 3, seed, 122)), Q(gaussian(4, D, seed, 123)) {}
};

/// Reads [4,3] of the shortest least-squares memory over the features.
Dense feature_reads(const Data &x) { return quadratic_features(x.Q) * pseudo_inverse(quadratic_features(x.K)) * x.V; }

/// Solving with G loses its condition number, and the features' pseudo-inverse as much.
double solve_units(const Data &x) {
  const std::vector<double> values = singular_values(quadratic_features(x.K));
  double least = values.front();
  for (double s : values)
    if (s > 1e-9 * values.front()) least = s;
  return 16.0 * x.K.rows * std::pow(values.front() / least, 2) * frobenius_norm(quadratic_kernel(x.Q, x.K)) /
         (least * least) * frobenius_norm(x.V);
}

/// The layer on every prefix against Eq 43 with the exponential kernel; its smallest ridge, 1e-12, stands in for none.
Point layer_reads(std::uint64_t seed, bool slip) {
  const int T = 8, D = 3;
  Sequence s = random_sequence({1, 1, T, D, 2}, seed);
  for (double &x : s.k) x *= 2; // apart, so that the prefixes' matrices are well conditioned
  Output reads;
  double lost = 1;
  for (int t = 0; t < T; ++t) {
    const Dense K = rows_of(s.k, t + 1, D);
    Dense G = K * transpose(K), g = K * column(s.q, t, D);
    for (double &x : G.data) x = std::exp(x / std::sqrt(double(D)));
    for (double &x : g.data) x = std::exp(x / std::sqrt(double(D)));
    const std::vector<double> values = symmetric_eigenvalues(G);
    lost = std::max(lost, (values.back() + 1e-12 / epsilon_of(Real::f64)) / values.front());
    const Dense read = transpose(rows_of(s.v, t + 1, 2)) * (slip ? Dense::identity(t + 1) : inverse(G)) * g;
    reads.o.insert(reads.o.end(), read.data.begin(), read.data.end());
  }
  return same(reads, "kernel_regression", s, {{"ridge", "1e-12"}}, "the layer", labels({{"kernel", txt("exp")}}), lost);
}

std::vector<Point> feature_memory(const Protocol &p, bool slip) {
  std::vector<Point> points{layer_reads(p.seed, slip)};
  for (int t : {3, 6}) {
    const Data x(t, 3, p.seed); // rank 10 > t
    const Dense G = slip ? Dense::identity(t) : inverse(quadratic_kernel(x.K, x.K));
    const Dense reads = quadratic_kernel(x.Q, x.K) * G * x.V, at_keys = quadratic_kernel(x.K, x.K) * G * x.V;
    points.push_back(at(exact_point(max_difference(reads.data, feature_reads(x).data), 0, solve_units(x), 1e-2),
                        "exact", labels({{"t", num(t)}})));
    points.push_back(at(exact_point(max_difference(at_keys.data, x.V.data), 0, solve_units(x), 1e-2), "interpolates",
                        labels({{"t", num(t)}})));
  }
  return points;
}

std::vector<Point> no_inverse(const Protocol &p) {
  std::vector<Point> points;
  Data many(9, 2, p.seed), repeated(4, 3, p.seed); // nine pairs in rank six; the last of four keys repeats the first
  for (int j = 0; j < 3; ++j) repeated.K(3, j) = repeated.K(0, j);
  for (const Data *x : {&many, &repeated}) {
    const Dense G = quadratic_kernel(x->K, x->K);
    const std::vector<double> values = symmetric_eigenvalues(G);
    const Params label = labels({{"t", num(x->K.rows)}, {"case", txt(x == &many ? "rank 6" : "repeated key")}});
    points.push_back(at(bounded_point(values.front() / values.back(), Point::at_least, 1e-9, 0, 1e-9), "paper", label));
    const Dense reads = quadratic_kernel(x->Q, x->K) * pseudo_inverse(G) * x->V;
    points.push_back(at(exact_point(max_difference(reads.data, feature_reads(*x).data), 0, solve_units(*x), 1e-2),
                        "corrected", label));
  }
  return points;
}

std::vector<Point> identity_approximation(const Protocol &p) {
  const int D = 64; // values are the standard basis, so that read t holds the kernel's row t
  Sequence s;
  s.shape = {1, 1, D, D, D};
  s.k = s.q = make_keys({"orthonormal", D, D}, 1, p.seed);
  s.v = Dense::identity(D).data;
  const Dense G(D, D, run("exp_unnormalized", s).o);
  const double one = std::exp(1.0 / 8);
  double worst = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j <= i; ++j) worst = std::max(worst, std::fabs(G(i, j) - (i == j ? one : 1)));
  const auto entry = [](const char *what) { return labels({{"D", num(64)}, {"entry", txt(what)}}); };
  std::vector<Point> points{
      at(exact_point(G(1, 0), 0, 64, 0.05), "paper", entry("two orthonormal keys")),
      at(exact_point(G(0, 0), 1, 64, 0.05), "paper", entry("a unit key with itself")),
      at(exact_point(worst, 0, 64 * D, 0.05), "corrected", entry("k(K,K) - (e^(1/8) - 1) I - 1 1^T"))};
  const Sequence random = random_sequence({1, 1, 20, 6, 3}, p.seed); // Eq 45-47 as algebra: V^T k(K,q) is the layer
  Dense scores = rows_of(random.q, 20, 6) * transpose(rows_of(random.k, 20, 6));
  for (int t = 0; t < 20; ++t)
    for (int i = 0; i < 20; ++i) scores(t, i) = i <= t ? std::exp(scores(t, i) / std::sqrt(6.0)) : 0;
  const Output sums{(scores * rows_of(random.v, 20, 3)).data, {}, {}};
  points.push_back(same(sums, "exp_unnormalized", random, {}, "corrected", labels({{"entry", txt("Eq 45 is Eq 47")}})));
  return points;
}

} // namespace

std::vector<Claim> kernel_memory() {
  Claim approximation = refuted_row("kernel-approx-identity-eq44-47", Scope::boundary, "003 Eq 44-47",
                                    "k(K,K) ~ I turns kernel regression into unnormalised softmax attention.",
                                    "Eq 45-47 are exact algebra, but the exponential kernel is positive everywhere: "
                                    "orthonormal keys give (e^(1/sqrt D) - 1) I + 1 1^T, never I.",
                                    identity_approximation);
  approximation.variants = {"exp_unnormalized"};
  return {
      identity_row("kernel-regression-eq43", "003 Eq 42-43",
                   "V^T k(K,K)^{-1} k(K,q) is the prediction of the least-squares memory in feature space.",
                   "The shortest one, where k(K,K) is invertible: independent features.", {"kernel_regression"},
                   feature_memory),
      refuted_row("kernel-regression-overdetermined", Scope::boundary, "003 Eq 43",
                  "Eq 43 holds for any finite feature map.",
                  "With more pairs than features, or a repeated key, k(K,K) has no inverse; its pseudo-inverse gives "
                  "the least-squares memory.",
                  no_inverse),
      approximation,
  };
}

} // namespace recollect::theory
