// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 4, beginning: kernel regression (Eq 42-43), when its inverse exists, and the approximation of k(K,K) by
// I (Eq 44-47).
#include "harness/numerics/keys.hpp"
#include "theory/support/one_head.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
namespace {
/// Features of exp(x.y / sqrt D): prod_c (x_c / D^(1/4))^(a_c) / sqrt(a_c!) for all exponents a of total degree at most
/// N. N is the first degree whose term for unit vectors, (1/sqrt D)^N / N!, is below rounding.
Dense exponential_features(const Dense &X) {
  const int D = X.columns;
  int N = 0;
  for (double term = 1; term > epsilon_of(Real::f64) / 8; ++N) term /= std::sqrt(double(D)) * (N + 1);
  std::vector<std::pair<int, double>> monomials; // degree so far, value so far
  Dense phi;
  for (int i = 0; i < X.rows; ++i) {
    monomials = {{0, 1}};
    for (int c = 0; c < D; ++c) {
      std::vector<std::pair<int, double>> longer;
      for (const auto &[degree, value] : monomials) {
        double factor = 1;
        for (int a = 0; degree + a <= N; ++a, factor *= X(i, c) / std::pow(D, 0.25) / std::sqrt(double(a)))
          longer.emplace_back(degree + a, value * factor);
      }
      monomials = longer;
    }
    if (i == 0) phi = Dense(X.rows, int(monomials.size()));
    for (int f = 0; f < phi.columns; ++f) phi(i, f) = monomials[f].second;
  }
  return phi;
}

/// For t = 1 ... T, the read of the least-squares memory on the features that has the smallest norm. It is fitted to
/// the first t - skipped pairs.
Vector feature_space_reads(const Sequence &s, int skipped) {
  const Shape &shape = s.shape;
  const Dense keys = exponential_features(rows_of(s.k, shape.T, shape.Dk)),
              queries = exponential_features(rows_of(s.q, shape.T, shape.Dk));
  Vector reads;
  for (int t = 1; t <= shape.T; ++t) {
    Dense read(1, shape.Dv);
    if (const int n = t - skipped; n > 0)
      read = Dense(1, keys.columns, column(queries.data, t - 1, keys.columns).data) *
             pseudo_inverse(rows_of(keys.data, n, keys.columns)) * rows_of(s.v, n, shape.Dv);
    reads.insert(reads.end(), read.data.begin(), read.data.end());
  }
  return reads;
}

Claim eq43() {
  ClaimBuilder c("kernel-regression-eq43", "003 Eq 42-43");
  c.says("For equal weights, and functions that are linear in a possibly infinite feature map with the kernel $k$, the "
         "analytical solution of the regression predicts $V^T k(K,K)^{-1} k(K,q)$ at the query $q$.");
  c.exactly("If $k(K,K)$ is invertible (distinct keys, at least $t$ features), this is the prediction of the "
            "least-squares memory of smallest norm, which interpolates, $m(k_i) = v_i$. It is measured for the "
            "exponential kernel and compared with least squares over the monomial features of this kernel.");
  c.runs({"kernel_regression", "exp_unnormalized"});
  c.takes({integer_param("T", 14, 2, 32, "pairs"), integer_param("Dk", 5, 2, 6, "width of the unit keys"),
           integer_param("Dv", 3, 1, 64, "width of the values")});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence anywhere = random_sequence(shape, seed);
    Sequence stored = anywhere; // step t asks for the pair that was written at step t / 2
    Vector values;
    for (int t = 0; t < shape.T; ++t) {
      std::copy_n(anywhere.k.begin() + t / 2 * shape.Dk, shape.Dk, stored.q.begin() + t * shape.Dk);
      append_column(values, column(anywhere.v, t / 2, shape.Dv));
    }
    // The layer runs with its smallest ridge r in place of 0. That changes a read V^T w, w = G^{-1} g, by at most r |V|
    // |w| / least, where least is the smallest eigenvalue of G. A bound on |w| follows from least |w|^2 <= w^T G w <=
    // k(q,q) = e^(1/sqrt D).
    const Vector scale = singular_values(exponential_features(rows_of(anywhere.k, shape.T, shape.Dk)));
    const double least = scale.back() * scale.back();
    if (least < 1e-7)
      usage_error("take fewer pairs or wider keys: these keys are too alike for float64 to invert k(K,K)");
    const double moved = 1e-12 / least * std::sqrt(inner(anywhere.v, anywhere.v)) *
                         std::sqrt(std::exp(1 / std::sqrt(double(shape.Dk))) / least);
    const auto layer = [](const Sequence &s, const char *r) {
      return results_of("kernel_regression", s, {{"ridge", r}});
    };
    const auto units = [&](const Sequence &s) {
      return rounding_units("kernel_regression", s, {{"ridge", "1e-12"}}) + moved / epsilon_of(Real::f64);
    };
    const Vector reads = feature_space_reads(anywhere, 0);
    points.rounding(units(anywhere));
    points.statement("Eq 43 reads the least-squares memory, on every prefix", layer(anywhere, "1e-12"), reads)
        .but_not("the newest pair left out", feature_space_reads(anywhere, 1));
    points.wrong_system("Eq 43 with a ridge of 0.01 reads the least-squares memory", layer(anywhere, "1e-2"), reads);
    points.wrong_system("Eq 43 without the inverse reads the least-squares memory",
                        results_of("exp_unnormalized", anywhere), reads);
    points.rounding(units(stored)).obligation("reads at stored keys are their values", layer(stored, "1e-12"), values);
    points.wrong_system("reads at stored keys are their values, with a ridge of 0.01", layer(stored, "1e-2"), values);
  });
}

/// All products of two elements of (1, x): phi(x).phi(y) = (1 + x.y)^2, of rank (D + 1)(D + 2) / 2.
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

struct Pairs {
  Dense K, V, Q;
  Pairs(int t, int D, Seed seed, const std::string &name)
      : K(normal_matrix(t, D, seed, name + "/keys")), V(normal_matrix(t, 3, seed, name + "/values")),
        Q(normal_matrix(4, D, seed, name + "/queries")) {}

  /// The eigenvalues of k(K,K) that are above rounding.
  Vector eigenvalues() const {
    const Vector all = symmetric_eigenvalues(quadratic_kernel(K, K)); // ascending
    return {std::upper_bound(all.begin(), all.end(), 1e-12 * all.back()), all.end()};
  }
  Dense read_by(const Dense &inverse) const { return quadratic_kernel(Q, K) * inverse * V; }
  /// Bound on the rounding error, in units of eps. Solving with k(K,K) multiplies rounding errors by its condition
  /// number.
  double units() const {
    const Vector values = eigenvalues();
    return 16 * K.rows * values.back() / values.front() * frobenius_norm(quadratic_kernel(Q, K)) / values.front() *
           frobenius_norm(V);
  }
};

void add_case(Points &points, const Pairs &x, double rank, double rival, const char *name, const std::string &which) {
  const double measured = double(x.eigenvalues().size());
  points.rounding(0).statement(which + ": an inverse exists, rank t", measured, x.K.rows);
  points.obligation(which + ": rank", measured, rank).but_not(name, rival);
  const Dense G = quadratic_kernel(x.K, x.K),
              least_squares = quadratic_features(x.Q) * pseudo_inverse(quadratic_features(x.K)) * x.V;
  const Dense pseudo = x.read_by(pseudo_inverse(G)), ridged = x.read_by(inverse(G + 1e-6 * Dense::identity(G.rows)));
  points.rounding(x.units());
  points.obligation(which + ": the pseudo-inverse reads the least-squares memory", pseudo, least_squares);
  points.wrong_system(which + ": inverse of $k(K,K) + 1e-6 I$", ridged, least_squares);
}

Claim overdetermined() {
  ClaimBuilder c("kernel-regression-overdetermined", "003 Eq 43");
  c.says("Eq 43 holds for any feature map, a finite one included.");
  c.exactly("With more pairs than features, or with a repeated key, $k(K,K)$ has no inverse. With the pseudo-inverse "
            "instead, the formula gives the least-squares memory. It is measured for the kernel $(1 + x.y)^2$.");
  c.because(
      "The paper writes the inverse for a possibly infinite feature map and does not discuss finite ones. The formula "
      "is right if there are at most as many distinct keys as features; otherwise use the pseudo-inverse or a ridge.");
  c.is_refuted(stricter(
      "Eq 43: $V^T k(K, K)^{-1} k(K, q)$.", "a possibly infinite-dimensional feature map",
      "It is 'the standard kernel regression prediction equation'; singular Gram matrices are not discussed."));
  c.takes({integer_param("t", 9, 2, 64, "pairs, more than the $(D + 1)(D + 2) / 2$ features"),
           integer_param("D", 2, 1, 8, "width of the keys")});
  return measure(c, [](Points &points, Seed seed, int t, int D) {
    const int features = (D + 1) * (D + 2) / 2;
    if (t <= features)
      usage_error("take more pairs: t pairs in " + std::to_string(features) + " features or more have an inverse");
    add_case(points, Pairs(t, D, seed, "overdetermined"), features, (D + 1) * (D + 1), "rank $(D + 1)^2$",
             "more pairs than features");
    Pairs repeated(features, D, seed, "repeated");
    for (int j = 0; j < D; ++j) repeated.K(features - 1, j) = repeated.K(0, j);
    add_case(points, repeated, features - 1, features - 2, "rank $t - 2$", "the last key repeats the first");
  });
}

/// The lower triangle of a k(K,K) with these elements. If values are the standard basis, the read of step t is row t of
/// this triangle.
Vector lower_triangle(int D, double diagonal, double below) {
  Dense G(D, D);
  for (int i = 0; i < D; ++i)
    for (int j = 0; j <= i; ++j) G(i, j) = i == j ? diagonal : below;
  return G.data;
}

Claim identity_for_kernel() {
  ClaimBuilder c("kernel-approx-identity-eq44-47", "003 Eq 44-47");
  c.says("Under the approximation $k(K,K) ~ I$, which the paper calls crude, kernel regression with the kernel "
         "exp($x.y/sqrt Dk$) is unnormalised softmax attention.");
  c.exactly("Eq 45-47 are exact algebra, but the exponential kernel is positive everywhere. For $D$ orthonormal keys "
            "$k(K,K) = (e^(1/sqrt D) - 1) I + 1 1^T$, where $1$ is the vector of ones; this is never $I$.");
  c.because("The paper calls the approximation crude and continues with the normalised form. What is refuted is that "
            "the approximation is good for some keys: its error is the off-diagonal part of $k(K,K)$, which is "
            "positive for all keys.");
  c.is_refuted(stricter(
      "Before Eq 44: 'make the crude approximation $k(K, K) ~ I'$.", "none",
      "'Thus we do not stop our derivations here': the paper does not claim that the approximation becomes good."));
  c.runs({"exp_unnormalized", "softmax"});
  c.takes({integer_param("D", 64, 2, 256, "width and number of the orthonormal keys")});
  return measure(c, [](Points &points, Seed seed, int D) {
    const Sequence s = stored({1, 1, D, D, D}, make_keys({"orthonormal", D, D}, 1, seed), Dense::identity(D).data);
    const double one = std::exp(1 / std::sqrt(double(D)));
    const Vector measured = results_of("exp_unnormalized", s);
    points.rounding(rounding_units("exp_unnormalized", s));
    points.statement("$k(K,K)$ of orthonormal keys is I", measured, lower_triangle(D, 1, 0));
    points
        .obligation("$k(K,K)$ of orthonormal keys is $(e^(1/sqrt D) - 1) I + 1 1^T$", measured,
                    lower_triangle(D, one, 1))
        .but_not("$e^(1/sqrt D) I$", lower_triangle(D, one, 0))
        .but_not("the kernel $exp(x.y / D)$", lower_triangle(D, std::exp(1.0 / D), 1));
    const Sequence random = random_sequence({1, 1, 14, D, 3}, seed); // tests the algebra of Eq 45-47
    const Shape &shape = random.shape;
    const double root = std::sqrt(double(D));
    Dense scores = rows_of(random.q, shape.T, shape.Dk) * transpose(rows_of(random.k, shape.T, shape.Dk));
    for (int t = 0; t < shape.T; ++t)
      for (int i = 0; i < shape.T; ++i) scores(t, i) = i <= t ? std::exp(scores(t, i) / root) : 0;
    const Vector sums = (scores * rows_of(random.v, shape.T, shape.Dv)).data;
    points.rounding(rounding_units("exp_unnormalized", random));
    points.obligation("$V^T k(K,q)$ is unnormalised softmax attention", results_of("exp_unnormalized", random), sums);
    points.wrong_system("normalised softmax attention is unnormalised softmax attention", results_of("softmax", random),
                        sums);
  });
}
} // namespace

std::vector<Claim> vignette_4_kernel_regression() { return {eq43(), overdetermined(), identity_for_kernel()}; }
} // namespace recollect::theory
