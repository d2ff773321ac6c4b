// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 1, Relationship to linear attention: when the inverse covariance can be left out, and how large the
// error is when it cannot.
#include "theory/support/sampling.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
Dense linear_memory(const Pairs &x) { return memory(run("linear", x.sequence()), x.sequence().shape); }
/// The memory of linear attention, compared with the least-squares memory.
Point optimal(const Pairs &x) {
  const Dense best = x.best();
  return exact_point(linear_memory(x).data, best.data, solved_units(x.K, best));
}

Claim orthonormal_keys() {
  ClaimBuilder c("linattn-optimal-orthonormal", "003 text after Eq 12");
  c.says("Linear attention is an optimal linear memory if $t <= Dk$ and the keys are orthonormal, $k_i . k_j = "
         "delta_ij$.");
  c.exactly("For orthonormal keys $V^T K = V^T (K^+)^T$, and the loss is zero.");
  c.because("The paper says \"only when\". This claim says only that the condition is sufficient.");
  c.runs({"linear"}), c.takes(pair_params({1, 1, 4, 8, 3})), c.at({{}, {{"t", 8}}});
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv) {
    const Pairs x({1, 1, t, Dk, Dv}, seed);
    if (t > Dk) usage_error("orthonormal keys need t <= Dk");
    const Pairs keys(orthonormal(t, Dk, seed), x.V), longer(1.1 * keys.K, x.V);
    Pairs unit = x;
    normalise_rows(unit.K.data, Dk);
    const auto reads = [&](const Pairs &pairs) { // if the loss is zero, the reads are the values
      const Dense values = linear_memory(pairs) * transpose(pairs.K);
      return exact_point(values.data, transpose(pairs.V).data, 16.0 * t * Dk * max_abs(pairs.V.data));
    };
    points.statement("linear attention is optimal: $V^T K = V^T (K^+)^T$", optimal(keys));
    points.wrong_system("orthogonal keys of length 1.1", optimal(longer));
    points.statement("orthonormal keys: linear attention has zero loss", reads(keys));
    points.wrong_system("zero loss with orthogonal keys of length 1.1", reads(longer));
    if (t > 1) points.wrong_system("unit keys, merely independent", optimal(unit));
  });
}

Claim only_orthonormal() {
  ClaimBuilder c("linattn-optimal-only-if", "003 text after Eq 12");
  c.says("Linear attention is an optimal linear memory only when $t <= Dk$ and the keys are orthonormal.");
  c.exactly("Linear attention is optimal for every $V$ exactly if $K K^T K = K$, that is, if all non-zero singular "
            "values of $K$ are 1. Tight frames are an example: $K^T K = I$ with $t > Dk$.");
  c.because("Linear attention is optimal with orthonormal keys, but also with other keys. \"Only\" is right if optimal "
            "means zero loss for every $V$.");
  c.is_refuted(
      asserted("Vignette 1 after Eq 12: 'In fact, it is an optimal linear memory only when $t <= D_k$ and the keys are "
               "orthonormal'.",
               "the objective of Eq 10", "The next paragraph is about stability.",
               "Optimal is meant as in Step 2 of §3: zero loss, perfect retrieval of every pair, whatever the values. "
               "Orthonormal keys are necessary for zero loss, so 'only' is right. Tight frames minimise the loss but "
               "do not retrieve every pair."));
  c.runs({"linear"}), c.takes(pair_params({1, 1, 8, 3, 2}));
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv) {
    const Pairs x({1, 1, t, Dk, Dv}, seed);
    if (t <= Dk) usage_error("take t > Dk: at t = Dk a tight frame is an orthonormal basis");
    const Pairs frame(transpose(orthonormal(Dk, t, seed)), x.V), // K^T K = I
        longer(1.1 * frame.K, x.V);
    const double apart = frobenius_norm(linear_memory(frame) - frame.best()) / frobenius_norm(frame.best()),
                 generic = frobenius_norm(linear_memory(x) - x.best()) / frobenius_norm(x.best());
    points.statement("a tight frame, $t > Dk$: distance from the optimal memory, at least 0.001",
                     at_least_point(apart, 1e-3, 0));
    points.obligation("a tight frame, $K^T K = I$ with $t > Dk$, is optimal", optimal(frame));
    points.obligation("generic keys: distance from the optimal memory, at least 0.001",
                      at_least_point(generic, 1e-3, 0));
    points.wrong_system("the tight frame scaled by 1.1 is optimal", optimal(longer));
    // Keys that span only half of the space: an orthogonal basis of this half, each vector of length 1 / sqrt 2 and
    // stored twice.
    const int r = std::max(1, Dk / 2);
    const Dense basis = orthonormal(r, Dk, seed);
    Dense twice(2 * r, Dk);
    for (size_t i = 0; i < twice.data.size(); ++i) twice.data[i] = basis.data[i % basis.data.size()] / std::sqrt(2.0);
    const Pairs isometry(twice, normal_matrix(2 * r, Dv, seed, "003/values of an isometry"));
    points.rounding(64.0 * Dk * max_abs(isometry.V.data));
    points.obligation("$K K^T K = K$ of rank $Dk/2$ is optimal", linear_memory(isometry), isometry.best());
  });
}

/// Zero-mean keys of covariance diag(1, kappa), values v = B k.
struct Correlated {
  double kappa;
  Dense B{2, 2, {1, 0.5, -0.3, 0.8}};

  Pairs pairs(int t, Seed seed) const {
    Pairs x(Shape{1, 1, t, 2, 2}, seed);
    x.K = x.K * diagonal({1, std::sqrt(kappa)}), x.V = x.K * transpose(B);
    return x;
  }
  /// Channel 0 of the read of linear attention at q = (1, 1), divided by t, for each of `count` texts of t tokens.
  Vector reads(int t, Seed seed, size_t first, size_t count) const {
    Sequence s =
        stored({int(count), 1, t, 2, 1}, Stream(seed, "003/correlated keys").normals(count * t * 2, first * t * 2), {});
    for (size_t i = 1; i < s.k.size(); i += 2) s.k[i] *= std::sqrt(kappa);
    for (size_t i = 0; i < s.k.size(); i += 2) s.v.push_back(B(0, 0) * s.k[i] + B(0, 1) * s.k[i + 1]);
    s.q = s.k;
    Vector read = forward(find_variant("linear"), s, {"fast", Real::f64, 64, {}}).state;
    for (size_t b = 0; b < count; ++b) read[b] = (read[2 * b] + read[2 * b + 1]) / t;
    read.resize(count);
    return read;
  }
};

Claim covariance() {
  ClaimBuilder c("linattn-crude-covariance", "003 text at Eq 12");
  c.says("For keys of mean zero $K^T K$ is proportional to the empirical covariance of the keys. Linear attention "
         "replaces $K^T K$ by $I$, which gives a crude memory that ignores the covariance between the dimensions of "
         "the keys.");
  c.exactly("$K^T K / t$ tends to the covariance $Sigma$ of the keys. So for values $v = B k$ the memory of linear "
            "attention, divided by $t$, tends to $B Sigma$, and least squares gives $B$. The two memories are equal up "
            "to scale exactly if $Sigma = c I$.");
  c.because("Linear attention weights directions by how often they occur.");
  c.runs({"linear"}),
      c.takes({real_param("kappa", 4, 1e-2, 100,
                          "second variance in $Sigma = diag(1, kappa)$, the covariance of the keys; not 1")});
  return measure(c, [](Points &points, const Protocol &protocol, double kappa) {
    const Correlated x{kappa};
    if (kappa == 1) usage_error("at kappa = 1 the covariance is I, and B Sigma is B");
    const auto law = [&](double power) { return x.B(0, 0) + x.B(0, 1) * std::pow(x.kappa, power); };
    const int t = 200;
    const auto draw = [&](size_t first, size_t count) { return x.reads(t, protocol.seed, first, count); };
    const Mean mean = sample_mean(wanted_sensitivity(protocol, law(1), {law(0), law(0.5)}), pilot_size(protocol),
                                  400'000, in_blocks(cached_block(5 * t), draw));
    points.statement("a read of $M / t$ of linear attention is a read of $B Sigma$", mean, law(1))
        .but_not("a read of B, the least-squares memory", law(0))
        .but_not("a read of $B Sigma^{1/2}$", law(0.5));
    // On every single text, the memory of linear attention is B K^T K, and the least-squares memory is B.
    const Pairs pairs = x.pairs(50, protocol.seed);
    const auto is = [&](const Dense &M, const Dense &expected) {
      return exact_point(M.data, expected.data, 4.0 * solved_units(pairs.K, expected));
    };
    points.statement("memory of linear attention: $B K^T K$", is(linear_memory(pairs), x.B * pairs.gram()));
    points.obligation("memory of least squares: B", is(pairs.best(), x.B))
        .but_not("$K^T K B$", is(linear_memory(pairs), pairs.gram() * x.B));
    points.wrong_system("the memory of linear attention divided by t",
                        is(1.0 / pairs.K.rows * linear_memory(pairs), x.B));
  });
}
} // namespace

std::vector<Claim> vignette_1_linear_attention() { return {orthonormal_keys(), only_orthonormal(), covariance()}; }
} // namespace recollect::theory
