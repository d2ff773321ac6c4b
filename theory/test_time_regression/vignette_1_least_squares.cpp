// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 1: least squares (Eq 10-11), also in features of the keys, and the bound on its output (Eq 13).
#include "theory/support/features.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
Claim overdetermined() {
  ClaimBuilder c("ls-eq11-over", "003 Eq 11");
  c.says("If the columns of $K_t$ are linearly independent (the paper restricts itself to $t >= Dk$), the "
         "least-squares memory is $M_t = V^T K (K^T K)^{-1}$. In general it is $V^T (K^+)^T$.");
  c.exactly("The memory solves the normal equations $M K^T K = V^T K$.");
  c.because("This is ordinary least squares, with one pair per row of $K$ and $V$.");
  c.takes(pair_params({1, 1, 20, 8, 3})), c.at({{}, {{"t", 40}, {"Dk", 5}}});
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv) {
    const Pairs x({1, 1, t, Dk, Dv}, seed);
    if (t < Dk) usage_error("the first form of Eq 11 needs t >= Dk");
    const Dense M = x.cross() * inverse(x.gram());
    const double units = solved_units(x.K, M);
    points.rounding(units);
    points.statement("$V^T K (K^T K)^{-1} = V^T (K^+)^T$", M, x.best())
        .but_not("a ridge of 0.01", x.cross() * inverse(x.gram() + 1e-2 * Dense::identity(Dk)))
        .but_not("no inverse", x.cross())
        .but_not("the last pair left out", x.some(0, t - 1).best());
    points.rounding(units * max_abs(x.gram().data));
    points.obligation("normal equations: $M K^T K = V^T K$", M * x.gram(), x.cross());
  });
}

Claim underdetermined() {
  ClaimBuilder c("ls-eq11-under", "003 Eq 11");
  c.says("If the rows of $K_t$ are linearly independent (rank $t$), the solution of smallest norm is $M_t = V^T (K "
         "K^T)^{-1} K$. In general it is $V^T (K^+)^T$.");
  c.exactly("The solution interpolates, $M k_i = v_i$. Any other interpolant is $M + N$ with $N k_i = 0$ for all keys, "
            "and its squared norm is larger by $|N|^2$.");
  c.because("Of all memories without loss, the paper chooses the one of least norm.");
  c.takes(pair_params({1, 1, 4, 8, 3})), c.at({{}, {{"t", 1}, {"Dk", 5}}});
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv) {
    const Pairs x({1, 1, t, Dk, Dv}, seed);
    if (t >= Dk) usage_error("the second form of Eq 11 needs t < Dk");
    const Dense outer_gram = x.K * transpose(x.K), M = transpose(x.V) * inverse(outer_gram) * x.K, least = x.best();
    const double units = solved_units(x.K, M);
    points.rounding(units);
    points.statement("$V^T (K K^T)^{-1} K = V^T (K^+)^T$", M, least)
        .but_not("linear attention", x.cross())
        .but_not("a ridge of 0.01", transpose(x.V) * inverse(outer_gram + 1e-2 * Dense::identity(t)) * x.K);
    points.rounding(units * max_abs(x.K.data));
    points.statement("M interpolates: $M K^T = V^T$", M * transpose(x.K), transpose(x.V));
    // Any other interpolant M + N with N K^T = 0 has a larger squared norm, by exactly |N|^2.
    const Dense G = normal_matrix(M.rows, Dk, seed, "003/another interpolant"), N = G - G * pseudo_inverse(x.K) * x.K;
    points.rounding(units * (square(M) + square(N)));
    points.statement("M has the least norm: $|M + N|^2 = |M|^2 + |N|^2$", square(M + N), square(M) + square(N));
    points.rounding(units).wrong_system("another interpolant $M + N = V^T (K^+)^T$", M + N, least);
  });
}

Claim rank_deficient() {
  ClaimBuilder c("ls-eq11-rank-deficient", "003 Eq 11 (\"e.g. t < Dk\")");
  c.says("The second form of Eq 11 can be used whenever $t < Dk$. (\"Underdetermined, e.g. $t < Dk$\" is read here "
         "without the condition on the rank.)");
  c.exactly("The rows of $K$ must be linearly independent. With a repeated key $K K^T$ is singular. $V^T (K^+)^T$ "
            "still exists; its read at that key is the mean of the values stored there.");
  c.because("The paper states the rank condition in the next sentence; \"e.g.\" means the generic case.");
  c.is_refuted(limited("Eq 11: 'underdetermined, e.g. $t < D_k$'.", "'e.g.'",
                       "The next sentence: 'the underdetermined case corresponds to $K_t$ having rank t'."));
  c.takes(pair_params({1, 1, 3, 6, 2}));
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv) {
    if (t >= Dk || t < 2) usage_error("t must be at least 2 and below Dk, so that one of t keys can be repeated");
    const Pairs distinct({1, 1, t, Dk, Dv}, seed);
    Pairs x = distinct; // the last key repeats the first, with another value
    for (int j = 0; j < Dk; ++j) x.K(t - 1, j) = x.K(0, j);
    const auto full_rank = [](const Dense &m) { return exact_point(rank(m, 1e-10), m.rows, 0); };
    points.statement("a repeated key: $K K^T$ has rank t", full_rank(x.K * transpose(x.K)));
    points.obligation("independent keys: $K K^T$ has rank t", full_rank(distinct.K * transpose(distinct.K)));
    // The pseudo-inverse reads the mean of the two values at the repeated key, and every other value as it is.
    Dense mean = x.V;
    for (int c = 0; c < Dv; ++c) mean(0, c) = mean(t - 1, c) = (x.V(0, c) + x.V(t - 1, c)) / 2;
    points.rounding(16 * solved_units(x.some(0, t - 1).K, x.best()) * max_abs(x.K.data));
    points
        .obligation("$V^T (K^+)^T$ at a repeated key reads the mean of its two values", x.best() * transpose(x.K),
                    transpose(mean))
        .but_not("$V^T (K^+)^T$ reads both values as they are", transpose(x.V));
    const Dense ridged = inverse(x.K * transpose(x.K) + 1e-6 * Dense::identity(t)),
                read = transpose(x.V) * ridged * x.K * transpose(x.K);
    points.wrong_system("$V^T (K K^T + 1e-6 I)^{-1} K$ at a repeated key reads the mean of its two values", read,
                        transpose(mean));
  });
}

enum class Eigenvalue { smallest, largest };
/// The output |y| of the least-squares memory divided by |q| sum |v_i||k_i| / lambda, where lambda is the chosen
/// eigenvalue of K^T K.
double tightness(const Pairs &x, const Dense &q, Eigenvalue which) {
  double sum = 0;
  for (int i = 0; i < x.K.rows; ++i) sum += frobenius_norm(x.value(i)) * frobenius_norm(x.key(i));
  const Vector lambda = symmetric_eigenvalues(x.gram());
  const double bound = frobenius_norm(q) * sum / (which == Eigenvalue::smallest ? lambda.front() : lambda.back());
  return frobenius_norm(x.cross() * inverse(x.gram()) * q) / bound;
}

Claim norm_bound() {
  ClaimBuilder c("ls-norm-bound", "003 Eq 13, 59-67");
  c.says("The output of a least-squares layer (Eq 11) is bounded: $|y_t| <= |q_t| (sum_i |v_i||k_i|) / "
         "lambda_min(K_t^T K_t)$.");
  c.exactly("Every line of the proof is valid. Equality holds for equal pairs in one channel.");
  c.because("On random pairs the bound is loose: the output is a tenth of the bound on average. But the bound serves "
            "its purpose, to show that the inverse limits the output. Linear attention has no such denominator.");
  c.takes(pair_params({1, 1, 4, 3, 3})), c.at({{}, {{"t", 12}}});
  c.last([](Points &points, const Protocol &) {
    // A case of equality: one channel, t equal pairs k = 2 and v = 1, read at q = 3; y = |q| t |v||k| / (t k^2) = 3/2.
    const int t = 5;
    const Pairs same(Dense(t, 1, Vector(t, 2)), Dense(t, 1, Vector(t, 1)));
    const double y = (same.cross() * inverse(same.gram()) * Dense(1, 1, {3}))(0, 0);
    const auto bound = [&](double pairs) { return 3 * pairs * 2 / same.gram()(0, 0); };
    points.at(labels({{"t", num(t)}, {"Dk", num(1)}, {"Dv", num(1)}})).rounding(16);
    points.obligation("equal pairs in one channel: $|y|$ is the bound", y, bound(t))
        .but_not("the largest $|v_i||k_i|$ in place of the sum", bound(1))
        .but_not("one pair missing from the sum", bound(t - 1));
  });
  return measure(c, [](Points &points, const Protocol &protocol, const Shape &shape) {
    if (shape.T < shape.Dk) usage_error("Eq 13 needs t >= Dk");
    const auto largest = [&](Eigenvalue which) {
      double most = 0;
      for (int draw = 0; draw < 200; ++draw) {
        const Seed seed = protocol.seed * 1000 + draw;
        most = std::max(most, tightness(Pairs(shape, seed), normal_matrix(shape.Dk, 1, seed, "003/query"), which));
      }
      return at_most_point(most, 1, 1e-12);
    };
    points.statement("largest ratio of $|y|$ to the bound in 200 draws: at most 1", largest(Eigenvalue::smallest));
    if (shape.T == shape.Dk + 1 && shape.Dk > 1)
      points.wrong_system("largest ratio of $|y|$ to the bound with the largest eigenvalue: at most 1",
                          largest(Eigenvalue::largest));
  });
}

/// Features of each row: all products of two coordinates.
Dense monomials(const Dense &rows) {
  const int d = rows.columns;
  Dense phi(rows.rows, d * (d + 1) / 2);
  for (int t = 0; t < rows.rows; ++t)
    for (int i = 0, c = 0; i < d; ++i)
      for (int j = i; j < d; ++j) phi(t, c++) = rows(t, i) * rows(t, j);
  return phi;
}

Claim feature_mapped() {
  ClaimBuilder c("feature-mapped-ls", "003 Vignette 1, Nonlinear associative memory");
  c.says("With features $phi(k_i)$ in place of $k_i$ the least-squares solution is the optimal memory among those that "
         "are nonlinear in the keys. Linear attention with a feature map (Eq 3) disregards the covariance of the "
         "$phi(k_i)$, and so gives a suboptimal memory.");
  c.exactly("The solution is $M = V^T Phi (Phi^T Phi)^{-1}$. With monomials of degree 2 as features it stores any "
            "quadratic map exactly.");
  c.because("The solution is optimal among the memories that are linear in these features.");
  c.runs({"linear"}), c.takes(pair_params({1, 1, 20, 8, 3})), c.at({{}, {{"t", 30}, {"Dk", 3}, {"Dv", 2}}});
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv) {
    const Pairs x({1, 1, t, Dk, Dv}, seed);
    if (t < Dk) usage_error("t must be at least the number of features, here Dk");
    const Pairs mapped(Dense(t, Dk, elu_plus_one(x.K.data)), x.V);
    // At the least-squares solution the gradient of the loss vanishes: M Phi^T Phi = V^T Phi.
    const Dense M = mapped.best();
    points.rounding(solved_units(mapped.K, M) * max_abs(mapped.gram().data));
    points.statement("features 1 + ELU: the gradient of the loss is 0 at the solution", M * mapped.gram(),
                     mapped.cross());
    const Dense eq3 = memory(run("linear", mapped.sequence()), mapped.sequence().shape);
    const auto loss = [&](const Dense &M) { return std::pow(frobenius_norm(mapped.V - mapped.K * transpose(M)), 2); };
    points.statement("loss of Eq 3 (linear attention): at least that of the solution",
                     at_least_point(loss(eq3), loss(M), 0));
    points.wrong_system("loss of the solution scaled by .9: at least that of Eq 3",
                        at_least_point(loss(0.9 * M), loss(eq3), 0));
    points.wrong_system("gradient of the loss is 0 at Eq 3, which ignores the features' covariance",
                        eq3 * mapped.gram(), mapped.cross());
    const Dense raw_gram = mapped.cross() * inverse(x.gram()) * mapped.gram();
    points.wrong_system("gradient of the loss is 0 at the solution with the covariance of the raw keys", raw_gram,
                        mapped.cross());
    points.wrong_system("gradient of the loss is 0 at least squares on the raw keys", x.best() * mapped.gram(),
                        mapped.cross());
    // With monomials of degree 2 as features, the memory is nonlinear in the keys: it stores a quadratic map exactly
    // and reads it at new keys.
    const int count = Dk * (Dk + 1) / 2, enough = 2 * count;
    const Dense map = normal_matrix(Dv, count, seed, "003/a quadratic map"),
                keys = normal_matrix(enough, Dk, seed, "003/its keys"),
                queries = normal_matrix(t, Dk, seed, "003/its queries");
    const Pairs lifted(monomials(keys), monomials(keys) * transpose(map)), raw(keys, lifted.V);
    const Dense truth = monomials(queries) * transpose(map);
    points.rounding(solved_units(lifted.K, map) * max_abs(monomials(queries).data) * count)
        .statement("features of degree 2: reads at new keys are those of a quadratic map",
                   monomials(queries) * transpose(lifted.best()), truth);
    points.wrong_system("a memory linear in the keys: reads are those of a quadratic map",
                        queries * transpose(raw.best()), truth);
  });
}
} // namespace

std::vector<Claim> vignette_1_least_squares() {
  return {overdetermined(), underdetermined(), rank_deficient(), norm_bound(), feature_mapped()};
}
} // namespace recollect::theory
