// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 1: the linear memory as least squares (Eq 10-11), the bound on its output (Eq 13, Appendix A), and the
// memory that is nonlinear in the keys.
#include "theory/support/features.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {

// ---- Eq 11 ----------------------------------------------------------------------------------------------------------

std::vector<Point> overdetermined(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(20, 8, 3), pair_point(40, 5, 3)})) {
    const Pairs x(pair_shape(p), protocol.seed);
    const int t = x.K.rows, Dk = x.K.columns;
    if (t < Dk) usage_error("the first form of Eq 11 needs t >= Dk");
    const Dense M = x.cross() * inverse(x.gram());
    const double units = solved_units(x.K, M);
    const auto equals = [&](const Dense &other) { return exact_point(M.data, other.data, units); };
    points.push_back(as_statement(equals(x.best()), p, "V^T K (K^T K)^{-1} = V^T (K^+)^T"));
    points.push_back(as_obligation(exact_point((M * x.gram()).data, x.cross().data, units * max_abs(x.gram().data)), p,
                                   "normal equations: M K^T K = V^T K"));
    points.push_back(
        rival_law(equals(x.cross() * inverse(x.gram() + 1e-2 * Dense::identity(Dk))), p, "a ridge of 0.01"));
    points.push_back(rival_law(equals(x.cross()), p, "no inverse"));
    points.push_back(rival_law(equals(x.some(0, t - 1).best()), p, "the last pair left out"));
  }
  return points;
}

Claim over_claim() {
  return explained(
      at_parameters(
          ledger_row("ls-eq11-over", "003 Eq 11",
                     "With linearly independent columns of $K_t$ ($t >= Dk$, to which the text restricts itself) the "
                     "least-squares memory is $M_t = V^T K (K^T K)^{-1}$, in general $V^T (K^+)^T$.",
                     "It solves the normal equations $M K^T K = V^T K$.", overdetermined),
          pair_params({1, 1, 20, 8, 3})),
      "Classic least squares with pairs as rows.");
}

std::vector<Point> underdetermined(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(4, 8, 3), pair_point(1, 5, 3)})) {
    const Pairs x(pair_shape(p), protocol.seed);
    const int t = x.K.rows, Dk = x.K.columns;
    if (t >= Dk) usage_error("the second form of Eq 11 needs t < Dk");
    const Dense outer_gram = x.K * transpose(x.K), M = transpose(x.V) * inverse(outer_gram) * x.K, least = x.best();
    const double units = solved_units(x.K, M);
    const auto equals = [&](const Dense &memory, const Dense &other) {
      return exact_point(memory.data, other.data, units);
    };
    points.push_back(as_statement(equals(M, least), p, "V^T (K K^T)^{-1} K = V^T (K^+)^T"));
    points.push_back(
        as_statement(exact_point((M * transpose(x.K)).data, transpose(x.V).data, units * max_abs(x.K.data)), p,
                     "interpolates: M K^T = V^T"));
    // Any other interpolant M + N with N K^T = 0 is longer by exactly |N|^2.
    const Dense G = normal_matrix(M.rows, Dk, protocol.seed, "003/another interpolant"),
                N = G - G * pseudo_inverse(x.K) * x.K;
    points.push_back(as_statement(exact_point(square(M + N), square(M) + square(N), units * (square(M) + square(N))), p,
                                  "shortest: |M + N|^2 = |M|^2 + |N|^2"));
    points.push_back(rival_system(equals(M + N, least), p, "another interpolant, of the same reads"));
    points.push_back(rival_law(equals(M, x.cross()), p, "linear attention"));
    points.push_back(rival_law(equals(M, transpose(x.V) * inverse(outer_gram + 1e-2 * Dense::identity(t)) * x.K), p,
                               "a ridge of 0.01"));
  }
  return points;
}

Claim under_claim() {
  return explained(
      at_parameters(
          ledger_row(
              "ls-eq11-under", "003 Eq 11",
              "With linearly independent rows (rank $t$) the min-norm solution is $M_t = V^T (K K^T)^{-1} K$, in "
              "general $V^T (K^+)^T$.",
              "It interpolates, and any other interpolant is longer by exactly the part that reads nothing.",
              underdetermined),
          pair_params({1, 1, 4, 8, 3})),
      "Of all memories without loss, the paper chooses the one of least norm.");
}

std::vector<Point> rank_deficient(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(3, 6, 2)})) {
    const int t = p.integer("t"), Dk = p.integer("Dk");
    if (t >= Dk || t < 2) usage_error("a repeated key among t < Dk needs 2 <= t < Dk");
    const Pairs distinct(pair_shape(p), protocol.seed);
    Pairs x = distinct; // the last key repeats the first, with another value
    for (int j = 0; j < Dk; ++j) x.K(t - 1, j) = x.K(0, j);
    const auto rank = [](const Dense &m) {
      int n = 0;
      for (double s : singular_values(m)) n += s > 1e-10;
      return exact_point(n, m.rows, 0);
    };
    points.push_back(as_statement(rank(x.K * transpose(x.K)), p, "a repeated key: K K^T has rank t"));
    points.push_back(as_obligation(rank(distinct.K * transpose(distinct.K)), p, "independent keys: K K^T has rank t"));
    // The pseudo-inverse reads the mean of the two values at the repeated key, and every other value as it is.
    Dense mean = x.V;
    for (int c = 0; c < mean.columns; ++c) mean(0, c) = mean(t - 1, c) = (x.V(0, c) + x.V(t - 1, c)) / 2;
    const Pairs reduced = x.some(0, t - 1);
    const double units = 16 * solved_units(reduced.K, x.best()) * max_abs(x.K.data);
    const auto reads = [&](const Dense &M, const Dense &values) {
      return exact_point((M * transpose(x.K)).data, transpose(values).data, units);
    };
    points.push_back(as_obligation(reads(x.best(), mean), p, "V^T (K^+)^T reads the mean of the two values"));
    const Dense ridged = x.K * transpose(x.K) + 1e-6 * Dense::identity(t);
    points.push_back(
        rival_system(reads(transpose(x.V) * inverse(ridged) * x.K, mean), p, "an inverse by a ridge of 1e-6"));
    points.push_back(rival_law(reads(x.best(), x.V), p, "both values read as they are"));
  }
  return points;
}

Claim rank_claim() {
  return explained(
      at_parameters(
          refuted_row("ls-eq11-rank-deficient",
                      limited("Eq 11: 'underdetermined, e.g. $t < D_k$'.", "'e.g.'",
                              "The next sentence: 'the underdetermined case corresponds to $K_t$ having rank t'."),
                      "003 Eq 11 (\"e.g. t < Dk\")",
                      "t < Dk alone makes the second form usable (a reading of \"underdetermined, e.g. t < Dk\" "
                      "without the condition on the rank).",
                      "The rows must be independent. With a repeated key $K K^T$ is singular, and only $V^T (K^+)^T$ "
                      "remains: it reads the mean of the key's values.",
                      rank_deficient),
          pair_params({1, 1, 3, 6, 2})),
      "The paper states the rank condition in the next sentence; \"e.g.\" describes the generic case.");
}

// ---- The bound on the output ----------------------------------------------------------------------------------------

double length(const Dense &rows, int i) { return frobenius_norm(column(rows.data, i, rows.columns)); }

enum class Eigenvalue { smallest, largest };
/// |y| of the least-squares memory over |q| sum |v_i||k_i| / lambda.
double tightness(const Pairs &x, const Dense &q, Eigenvalue which) {
  double sum = 0;
  for (int i = 0; i < x.K.rows; ++i) sum += length(x.V, i) * length(x.K, i);
  const std::vector<double> lambda = symmetric_eigenvalues(x.gram());
  const double bound = frobenius_norm(q) * sum / (which == Eigenvalue::smallest ? lambda.front() : lambda.back());
  return frobenius_norm(x.cross() * inverse(x.gram()) * q) / bound;
}

std::vector<Point> norm_bound(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(4, 3, 3), pair_point(12, 3, 3)})) {
    const Shape shape = pair_shape(p);
    if (shape.T < shape.Dk) usage_error("Eq 13 needs t >= Dk");
    const auto largest = [&](Eigenvalue which) {
      double most = 0;
      for (int draw = 0; draw < 200; ++draw) {
        const std::uint64_t seed = protocol.seed * 1000 + draw;
        most = std::max(most, tightness(Pairs(shape, seed), normal_matrix(shape.Dk, 1, seed, "003/query"), which));
      }
      return at_most_point(most, 1, 1e-12);
    };
    points.push_back(as_statement(largest(Eigenvalue::smallest), p, "|y| over the bound, the largest of 200 draws"));
    if (shape.T == shape.Dk + 1 && shape.Dk > 1)
      points.push_back(rival_system(largest(Eigenvalue::largest), p, "the largest eigenvalue in the denominator"));
  }
  // Equality: one channel, t equal pairs k = 2, v = 1, read at q = 3: y = 3/2, and |q| t |v||k| / (t k^2) = 3/2.
  const int t = 5;
  const Pairs same(Dense(t, 1, std::vector<double>(t, 2)), Dense(t, 1, std::vector<double>(t, 1)));
  const Params p = pair_point(t, 1, 1);
  const double y = (same.cross() * inverse(same.gram()) * Dense(1, 1, {3}))(0, 0);
  const auto bound = [&](double pairs) { return 3 * pairs * 2 / same.gram()(0, 0); };
  const Point tight = as_obligation(exact_point(y, bound(t), 16), p, "equal pairs in one channel: equality");
  points.push_back(tight);
  points.push_back(rival_law(tight, "the largest |v_i||k_i| for their sum", bound(1)));
  points.push_back(rival_law(tight, "one pair missing from the sum", bound(t - 1)));
  return points;
}

Claim bound_claim() {
  return explained(
      at_parameters(
          ledger_row("ls-norm-bound", "003 Eq 13, 59-67",
                     "The output of a least-squares layer (Eq 11) is bounded: $|y_t| <= |q_t| (sum_i |v_i||k_i|) / "
                     "lambda_min(K_t^T K_t)$.",
                     "Valid line by line; an equality for equal pairs in one channel.", norm_bound),
          pair_params({1, 1, 4, 3, 3})),
      "Loose on random pairs (a tenth on average), and it need not be more: it shows that the inverse keeps the output "
      "in check where linear attention's has nothing to divide by.");
}

// ---- Feature maps ---------------------------------------------------------------------------------------------------

/// All products of two coordinates.
Dense monomials(const Dense &rows) {
  const int d = rows.columns;
  Dense phi(rows.rows, d * (d + 1) / 2);
  for (int t = 0; t < rows.rows; ++t)
    for (int i = 0, c = 0; i < d; ++i)
      for (int j = i; j < d; ++j) phi(t, c++) = rows(t, i) * rows(t, j);
  return phi;
}

std::vector<Point> feature_mapped(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(20, 8, 3), pair_point(30, 3, 2)})) {
    const Pairs x(pair_shape(p), protocol.seed);
    const int t = x.K.rows, Dk = x.K.columns;
    if (t < Dk) usage_error("the feature-mapped least squares needs t >= the number of features, here Dk");
    const Pairs mapped(Dense(t, Dk, elu_plus_one(x.K.data)), x.V);
    // Among all memories on features, the solution's gradient vanishes: M Phi^T Phi = V^T Phi.
    const Dense M = mapped.best();
    const double units = solved_units(mapped.K, M) * max_abs(mapped.gram().data);
    const auto optimal = [&](const Dense &memory) {
      return exact_point((memory * mapped.gram()).data, mapped.cross().data, units);
    };
    points.push_back(as_statement(optimal(M), p, "1 + ELU: the solution is stationary"));
    const Dense eq3 = memory(run("linear", mapped.sequence()), mapped.sequence().shape);
    const auto loss = [&](const Dense &memory) {
      return std::pow(frobenius_norm(mapped.V - mapped.K * transpose(memory)), 2);
    };
    points.push_back(as_statement(at_least_point(loss(eq3), loss(M), 0), p, "Eq 3: loss above the solution's"));
    points.push_back(rival_system(at_least_point(loss(0.9 * M), loss(eq3), 0), p, "the solution, scaled by .9"));
    points.push_back(rival_system(optimal(eq3), p, "Eq 3: the features' covariance dropped"));
    points.push_back(rival_system(optimal(mapped.cross() * inverse(x.gram())), p, "the covariance of the raw keys"));
    points.push_back(rival_system(optimal(x.best()), p, "least squares on the raw keys"));
    // Nonlinear in the keys: with the monomials of degree 2 a quadratic map is stored exactly, and read at new keys.
    const int count = Dk * (Dk + 1) / 2, Dv = x.V.columns, enough = 2 * count;
    const Dense map = normal_matrix(Dv, count, protocol.seed, "003/a quadratic map"),
                keys = normal_matrix(enough, Dk, protocol.seed, "003/its keys"),
                queries = normal_matrix(t, Dk, protocol.seed, "003/its queries");
    const Pairs lifted(monomials(keys), monomials(keys) * transpose(map)), raw(keys, lifted.V);
    const Dense truth = monomials(queries) * transpose(map);
    const double wide = solved_units(lifted.K, map) * max_abs(monomials(queries).data) * count;
    points.push_back(as_statement(exact_point((monomials(queries) * transpose(lifted.best())).data, truth.data, wide),
                                  p, "degree 2: a quadratic map read at new keys"));
    points.push_back(rival_system(exact_point((queries * transpose(raw.best())).data, truth.data, wide), p,
                                  "a memory linear in the keys"));
  }
  return points;
}

Claim feature_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("feature-mapped-ls", "003 Vignette 1, Nonlinear associative memory",
                         "With $phi(k_i)$ for $k_i$ the least-squares solution is the optimal memory nonlinear in the "
                         "keys; disregarding the covariance of the $phi(k_i)$, as linear attention with a feature "
                         "map does (Eq 3), gives a suboptimal one.",
                         "$M = V^T Phi (Phi^T Phi)^{-1}$. Monomials of degree 2 store any quadratic map exactly.",
                         feature_mapped),
              {"linear"}),
          pair_params({1, 1, 20, 8, 3})),
      "Optimal among memories that are linear in these features.");
}

} // namespace

std::vector<Claim> vignette_1_least_squares() {
  return {over_claim(), under_claim(), rank_claim(), bound_claim(), feature_claim()};
}

} // namespace recollect::theory
