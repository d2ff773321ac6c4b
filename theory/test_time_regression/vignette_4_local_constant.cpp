// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 4, p = 0: softmax attention as a locally constant fit (Eq 50-51), and what QKNorm is for.
#include "theory/test_time_regression/local_weights.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> one_head = one_head_params(point_P);

/// argmin_M sum_{i<=t} w_i |v_i - M|^2 / 2 for every t. In each channel the loss is a parabola; three of its values
/// give the minimum.
template <class Weigh> Vector constant_fits(const Sequence &s, const Weigh &weigh) {
  Vector minimisers;
  for (int t = 0; t < s.shape.T; ++t) {
    const Vector w = weigh(t);
    for (int c = 0; c < s.shape.Dv; ++c) {
      const auto loss = [&](double m) {
        double sum = 0;
        for (int i = 0; i <= t; ++i) sum += w[i] * std::pow(s.v[i * s.shape.Dv + c] - m, 2) / 2;
        return sum;
      };
      minimisers.push_back((loss(-1) - loss(1)) / 2 / (loss(1) + loss(-1) - 2 * loss(0)));
    }
  }
  return minimisers;
}

Claim eq50() {
  ClaimBuilder c("nadaraya-watson-eq50", "003 Eq 50");
  c.says("If the weights $s(k_i, q)$ depend on the distance to the query and the functions are locally constant $(p = "
         "0)$, the analytical solution is the mean of the values with weights $s / sum s$.");
  c.exactly("This is an identity, for a constant $M$ in $R^Dv$ (the paper prints $R^Dk$). It is measured on softmax "
            "attention. With unit queries and keys, the weights of softmax attention are proportional to $s = exp(-|k "
            "- q|^2 / B)$ for $B = 2 sqrt(Dk)$. The measurement is compared with the minimum of the weighted loss.");
  c.runs({"softmax_qknorm", "exp_unnormalized"}), c.takes(one_head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    const Vector fits = constant_fits(s, [&](int t) { return weights_at(s, t); });
    const auto without_second = [&](int t) {
      Vector w = weights_at(s, t);
      if (t > 0) w[1] = 0;
      return w;
    };
    // The minimiser is computed from differences of losses of up to (1 + |v|)^2 per pair.
    const double lost = 16 * std::pow(1 + max_abs(s.v), 2);
    const Measured layer = measured("softmax_qknorm", s), plain = measured("softmax_qknorm", s, {{"scale", "0"}}),
                   sums = measured("exp_unnormalized", s);
    points.statement("softmax over unit keys is the weighted constant fit", layer.against(fits, lost))
        .but_not("the fit with one pair left out", layer.against(constant_fits(s, without_second), lost));
    points.wrong_system("softmax with weights that do not sum to one is the weighted constant fit",
                        sums.against(fits, lost));
    points.wrong_system("softmax with equal weights is the weighted constant fit", plain.against(fits, lost));
  });
}

Claim width_typo() {
  ClaimBuilder c("eq50-width-typo", "003 Eq 50");
  c.says("The constant $M^[0]$ of $p = 0$ is in $R^Dk$.");
  c.exactly("The constant $M^[0]$ is in $R^Dv$.");
  c.is_refuted(slip("Eq 50: the minimum over $M^[0]$ in $R^{D_k}$.", "none",
                    "After Eq 53 $M^[0]$ is in $R^{D_v}$, as the values that it averages are."));
  c.runs({"softmax_qknorm"}), c.takes(one_head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    if (shape.Dk == shape.Dv) usage_error("eq50_width_typo needs Dk and Dv that differ");
    const double width = double(forward(find_variant("softmax_qknorm"), s).o.size()) / shape.T;
    points.rounding(0).statement("number of elements of $M^[0]$: $Dk$", width, s.shape.Dk);
    points.obligation("number of elements of $M^[0]$: $Dv$", width, s.shape.Dv)
        .but_not("$Dk + Dv$", s.shape.Dk + s.shape.Dv);
    points.wrong_system("number of elements of a mean of the keys: $Dv$", double(s.k.size()) / s.shape.T, s.shape.Dv);
  });
}

/// The Nadaraya-Watson reads at all steps of a sequence; each weight is multiplied by extra(|k_i|^2).
Vector smoothed(const Sequence &s, double sharpness = 1, const std::function<double(double)> &extra = {}) {
  Vector reads;
  for (int t = 0; t < s.shape.T; ++t) {
    Vector w = weights_at(s, t, sharpness);
    for (int i = 0; i <= t && extra; ++i) w[i] *= extra(square(column(s.k, i, s.shape.Dk)));
    append_column(reads, weighted_mean(rows_of(s.v, t + 1, s.shape.Dv), w));
  }
  return reads;
}

/// For every query, factor times sum_i s_i v_i.
Vector weighted_sums(const Sequence &s, double factor) {
  Vector reads;
  for (int t = 0; t < s.shape.T; ++t) {
    const Vector w = weights_at(s, t);
    append_column(reads, factor * std::accumulate(w.begin(), w.end(), 0.0) *
                             weighted_mean(rows_of(s.v, t + 1, s.shape.Dv), w));
  }
  return reads;
}

Claim eq51() {
  ClaimBuilder c("qknorm-eq51", "003 Eq 51");
  c.says("With $|k| = |q| = 1$, the exponential smoothing kernel $exp(-|k - q|^2 / B)$ with $B = 2 sqrt(Dk)$ is "
         "proportional to exp($k.q / sqrt Dk$), so that Eq 50 is softmax attention.");
  c.exactly("The factor of proportionality is $exp(-1/sqrt Dk)$.");
  c.runs({"softmax", "softmax_qknorm", "exp_unnormalized"}), c.takes(one_head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence unit = random_sequence(shape, seed), raw = with_lengths(unit, 3, {0.5, 2, 4});
    const double D = unit.shape.Dk;
    const Measured normalising = measured("softmax_qknorm", raw), softmax = measured("softmax", unit),
                   sums = measured("exp_unnormalized", unit);
    const char *by_norm = "$exp(-|k - q|^2 / (2 sqrt Dk)) = e^(-1/sqrt Dk) exp(k.q / sqrt Dk)$";
    points.statement(by_norm, sums.against(weighted_sums(unit, std::exp(1 / std::sqrt(D)))))
        .but_not("factor $e^(-1/(2 sqrt Dk))$", sums.against(weighted_sums(unit, std::exp(0.5 / std::sqrt(D)))));
    points.statement("softmax of unit queries and keys is the local constant fit", softmax.against(smoothed(unit)))
        .but_not("bandwidth $sqrt(Dk)$", softmax.against(smoothed(unit, 2)));
    points.wrong_system("softmax with scale $1/Dk$ is the local constant fit",
                        measured("softmax", unit, {{"scale", number(1 / D)}}).against(smoothed(unit)));
    points.obligation("softmax that normalises raw queries and keys is the local constant fit",
                      normalising.against(smoothed(unit)));
    points.wrong_system("softmax of raw queries and keys is the local constant fit",
                        measured("softmax", raw).against(smoothed(unit)));
  });
}

Claim necessity() {
  ClaimBuilder c("qknorm-necessity", "003 §1 (the abstract says justification, §4 shows that it suffices)");
  c.says("Query-key normalisation is mathematically necessary for softmax attention to be a proper local constant "
         "regressor.");
  c.exactly("Only the keys must have equal lengths: a factor that depends on the length of the query cancels in the "
            "normaliser. With keys of unequal lengths softmax attention is the local constant regressor with the "
            "additional weights $exp(|k_i|^2 / (2 sqrt Dk))$.");
  c.because("Eq 51 shows that unit queries and keys suffice, and this is what the paper's explanation of query-key "
            "normalisation needs. Normalising the keys matters, because otherwise their lengths weight the pairs. "
            "Normalising the query changes the bandwidth, but the fit is locally constant in either case.");
  c.is_refuted(
      asserted("§1: query-key normalisation 'is mathematically necessary to ensure that softmax self-attention is a "
               "proper local constant regressor'.",
               "none", "The abstract has 'a mathematical justification', §4 derives that it suffices.",
               "We show in §4 that with both norms fixed the exponential of the inner product is a function of the "
               "distance, which a local regressor needs. It is true that the query need not be normalised. The usual "
               "layer normalises both, and 'necessary' refers to the two together."));
  c.runs({"softmax"}), c.takes(one_head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence base = random_sequence(shape, seed), equal_keys = with_lengths(base, 3, {2}),
                   unequal_keys = with_lengths(base, 1, {0.5, 2, 4});
    const double root = std::sqrt(double(base.shape.Dk));
    const auto extra_weight = [&](double divisor) {
      return smoothed(unequal_keys, 1, [=](double square) { return std::exp(square / divisor); });
    };
    const Measured equal = measured("softmax", equal_keys), unequal = measured("softmax", unequal_keys);
    const double apart = max_difference(equal.values, smoothed(equal_keys)) / max_abs(equal.values);
    points.statement("queries of length 3, keys of length 2: softmax is not the local constant fit",
                     at_least_point(apart, 1e-6, 0));
    points
        .obligation("queries of length 3, keys of length 2: softmax is the local constant fit",
                    equal.against(smoothed(equal_keys)))
        .but_not("the fit around the unit query", equal.against(smoothed(with_lengths(base, 1, {2}))));
    const Point more = unequal.against(extra_weight(2 * root));
    points.obligation("keys of lengths 0.5, 2, 4: the fit with additional weights $exp(|k|^2 / (2 sqrt Dk))$", more)
        .but_not("keys of lengths 0.5, 2, 4: the plain fit", unequal.against(smoothed(unequal_keys)))
        .but_not("additional weights $exp(|k|^2 / sqrt Dk)$", unequal.against(extra_weight(root)));
  });
}
} // namespace

std::vector<Claim> vignette_4_local_constant() { return {width_typo(), eq50(), eq51(), necessity()}; }
} // namespace recollect::theory
