// SPDX-License-Identifier: Apache-2.0
// The normaliser of DeltaFormer (000 footnote 9, §2.2.1, D.2): the effect of a factor 1/t on A_t and C_t, what Eq 94
// does instead, the two misprints after Eq 94 and 95, and the exponential similarity without a normaliser.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include <numeric>

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> sizes{key_width_param(8, 2, 1024), value_width_param(4, 2, 1024),
                                   steps_param(100, 3, 4096)};

Claim common_factor() {
  ClaimBuilder c("normaliser-independent", "000 footnote 9, §2.2.1");
  c.says(
      "For large $t$ the normaliser of softmax attention scales $A_t$ and $C_t$ of Eq 37 by a factor related to $1/t$ "
      "(Table 2: $(t-1)/t$ and $1/t$). The factor is independent and does not affect the derivation of $u_t$.");
  c.exactly("This is exact at every $t$: $S_t = (t-1)/t S_{t-1} (I - phi phi^T) + v phi^T / t$ is $1/t$ times the "
            "memory of Eq 37, with the same $u_t$.");
  c.because("In this sense the footnote is right. It does not cover Eq 94, which normalises only the erasure "
            "(eq94_differs_from_eq37).");
  c.runs({"gated_delta_net"}), c.takes(sizes), c.at({{{"T", 2}}, {}}, {{{"T", 2}}, {}, {{"T", 2000}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, int T) {
    const Sequence drawn = random_sequence({1, 1, T, d, dv}, seed), s = averaged(filled(drawn, &Sequence::beta, 1));
    const Rows r(drawn);
    const Dense u = solve_unit_lower(causal_weights(r.k, r.k, linear_kernel, Triangle::strict), r.v),
                weights = causal_weights(r.k, r.q, linear_kernel, Triangle::with_diagonal);
    // The reads of Eq 38-40: u_i is multiplied by written(i), and the read at step t by factor(t).
    const auto reads = [&](const auto &factor, const auto &written) {
      Vector of_read(T), of_write(T);
      for (int t = 0; t < T; ++t) of_read[t] = factor(t + 1.0), of_write[t] = written(t + 1.0);
      return scale_rows(weights * scale_rows(u, of_write), of_read).data;
    };
    const auto one = [](double) { return 1.0; };
    const auto per_step = [](double t) { return 1 / t; };
    const auto per_next_step = [](double t) { return 1 / (t + 1); };
    const auto reads_of = [](const Sequence &of) { return run("gated_delta_net", of, {}, "chunked", 64).o; };
    points.rounding(rounding_units("gated_delta_net", s));
    points
        .statement("reads of the scaled memory, against $1/t$ times the reads of Eq 40", reads_of(s),
                   reads(per_step, one))
        .but_not("$1/(t+1)$ in place of $1/t$", reads(per_next_step, one))
        .but_not("the reads without the factor $1/t$", reads(one, one))
        .but_not("$u_t$ scaled as well", reads(per_step, per_step));
    points.wrong_system("$1/t$ on $C_t$ alone", reads_of(filled(s, &Sequence::alpha, 1)), reads(per_step, one));
  });
}

/// The mean of exp(x.y) over the directions of two vectors of norm r in d dimensions: sum_m r^{4m}/(2m)! E cos^{2m},
/// with E cos^{2m} = (2m-1)/(d+2m-2) E cos^{2m-2}.
double mean_exp(double r, int d) {
  double sum = 1, term = 1;
  for (int m = 1; m < 40; ++m) {
    term *= std::pow(r, 4) / (2.0 * m * (2 * m - 1)) * (2 * m - 1) / (d + 2 * m - 2);
    sum += term;
  }
  return sum;
}

Claim eq94_is_another_model() {
  ClaimBuilder c("eq94-differs-from-eq37", "000 D.2 Eq 94, §2.2.1");
  c.says("Stricter reading: the model in use, whose $kappa_1$ keeps the normaliser of Eq 94, writes the $u_t$ of Eq 39 "
         "up to one factor per step.");
  c.is_refuted(
      stricter("§2.2.1 after Eq 37: the normaliser 'is omitted here without affecting the derivation', 'in practice it "
               "is still retained'; D.2: Eq 94 'integrates' the delta rule with softmax attention.",
               "$t$ sufficiently large (footnote 9)",
               "Footnote 9 claims independence of the derivation, not equality of the two models."));
  c.exactly("Eq 94 scales the erasure but not $v_t$. The weights of Eq 94 sum to exactly 1, those of Eq 39 to about "
            "$t$. So Eq 94 subtracts an average of the old $u$, and is a different model at every length.");
  c.because("The text claims that the derivation does not depend on the normaliser (normaliser_independent). It calls "
            "Eq 94 an integration of the delta rule and softmax, not the same model.");
  c.runs({"delta_former"}), c.takes(sizes);
  c.at({{{"T", 16}}, {{"T", 256}}}, {{{"T", 16}}, {{"T", 256}}, {{"T", 2048}}});
  return measure(c, [](Points &points, Seed seed, const Params &p, int d, int dv, int T) {
    const double norm = 0.7; // kappa(k,k) = exp(0.49) < 2: Eq 39 stays bounded
    const Dense k = norm * unit_rows(T, d, seed, "eq94/keys"), v = normal_matrix(T, dv, seed, "eq94/values"),
                eq94 = last_written(k, v, "softmax"), eq39 = last_written(k, v, "exp"),
                scaled = eq94.data[0] / eq39.data[0] * eq39;
    points.at(Params(p).set("norm", norm));
    // Each sum of T terms has a rounding error, and T rows pass the errors on.
    points.rounding(8.0 * T * T * max_abs(scaled.data));
    points.statement("$u_T$ of Eq 94 against $u_T$ of Eq 39 times the ratio of their first channels", eq94, scaled);
    // The values are v_1 = 1, v_t = 2 for 1 < t < T, and v_T = 0. Then u_t = 1 for t < T, and u_T is minus the row sum
    // of the weights.
    Dense ones(T, 1, Vector(T, 2.0));
    ones.data.front() = 1, ones.data.back() = 0;
    const auto row_sum = [&](const char *kappa) { return -last_written(k, ones, kappa)(0, 0); };
    points.rounding(8.0 * T);
    points.obligation("sum of a row of weights in Eq 94: 1", row_sum("softmax"), 1)
        .but_not("sum of a row of weights in Eq 39", (T - 1) * mean_exp(norm, d))
        .but_not("each weight divided by t", (T - 1.0) / T);
    points.wrong_system("the exp kernel without a normaliser", row_sum("exp"), 1);
  });
}

/// Divides row t by by[t].
Dense divide_rows(const Dense &m, const Vector &by) {
  Vector factors;
  for (double x : by) factors.push_back(x == 0 ? 0 : 1 / x);
  return scale_rows(m, factors);
}

Claim indices_of_z() {
  ClaimBuilder c("eq94-z-typo", "000 after Eq 94 and after Eq 95");
  c.says("$Z1_t = sum_{i<t} exp(k_i . k_i)$ and $Z2_t = sum_{i<=t} exp(k_i . q_i)$ normalise the weights.");
  c.is_refuted(slip("After Eq 94 and Eq 95: $Z1_t = sum exp(k_i . k_i)$, $Z2_t = sum exp(k_i . q_i)$.", "none",
                    "The same sentence says 'similar to softmax attention', and Listing 1 has the indices right."));
  c.exactly("The right sums are $Z1_t = sum_{i<t} exp(k_i . k_t)$ and $Z2_t = sum_{i<=t} exp(k_i . q_t)$, as Listing 1 "
            "has them (with $1/sqrt d$).");
  c.because("An index is wrong in both sums.");
  c.runs({"delta_former"}), c.takes(sizes), c.at({{{"T", 20}}}, {{{"T", 60}}});
  return measure(c, [](Points &points, Seed seed, const Params &p, int d, int dv, int T) {
    const Sequence s = random_sequence({1, 1, T, d, dv}, seed);
    const auto [k, q, v] = Rows(s);
    const Dense A1 = causal_weights(k, k, exp_kernel, Triangle::strict),
                A2 = causal_weights(k, q, exp_kernel, Triangle::with_diagonal);
    Vector z1(T), z2(T);
    const auto kernel = [&k = k](int i, const Dense &with) { // exp(k_i . with_i)
      return std::exp(inner(&k.data[size_t(i) * k.columns], &with.data[size_t(i) * k.columns], k.columns));
    };
    for (int t = 0; t < T; ++t) {
      z1[t] = t ? z1[t - 1] + kernel(t - 1, k) : 0;
      z2[t] = (t ? z2[t - 1] : 0) + kernel(t, q);
    }
    const Dense printed1 = divide_rows(A1, z1), printed2 = divide_rows(A2, z2), mended1 = normalise_sums(A1),
                mended2 = normalise_sums(A2);
    const auto sum_of_second_row = [](const Dense &m) {
      return std::accumulate(m.data.begin() + m.columns, m.data.begin() + 2 * m.columns, 0.0);
    };
    points.at({{"t", 2}, {"d", d}}).rounding(4);
    points.statement("sum of a row of weights divided by Z1 as printed, against 1", sum_of_second_row(printed1), 1);
    points.statement("sum of a row of weights divided by Z2 as printed, against 1", sum_of_second_row(printed2), 1);
    Sequence plain = s;
    plain.w = plain.k, plain.alpha.assign(T, 1.0), plain.beta = plain.alpha;
    const Assignments softmax{{"kappa1", "softmax"}, {"kappa2", "softmax"}};
    const auto reads = [&v = v](const Dense &read, const Dense &erase) {
      return (read * solve_unit_lower(erase, v)).data;
    };
    points.at(p).rounding(rounding_units("delta_former", plain, softmax));
    points
        .obligation("reads of DeltaFormer with softmax kernels, against the right sums",
                    results_of("delta_former", plain, softmax), reads(mended2, mended1))
        .but_not("Z1 as printed", reads(mended2, printed1))
        .but_not("Z2 as printed", reads(printed2, mended1))
        .but_not("weights not divided by Z1", reads(mended2, A1));
  });
}

/// The residual v - S phi after the last of `writes` writes of one pair, divided by the residual before that write.
/// The kernels kappa2 and kappa1 are equal, so that o_t = S phi(k).
double residual_factor(double square_norm, double step, int writes) {
  Sequence s = stored({1, 1, writes, 1, 1}, Vector(writes, std::sqrt(square_norm)), Vector(writes, 1.0), step);
  s.alpha = s.beta;
  const Vector o = results_of("delta_former", s, {{"kappa1", "exp"}, {"kappa2", "exp"}});
  return (1 - o[writes - 1]) / (1 - o[writes - 2]);
}

Claim stability() {
  ClaimBuilder c("deltaformer-exp-stability", "000 §2.2.1");
  c.says("The normaliser is left out of the derivation, but in practice it is kept against numerical instability.");
  c.exactly("Writing the same pair again multiplies its residual by $1 - beta kappa(k,k)$. This is stable if and only "
            "if $beta kappa(k,k) < 2$, which for $beta = 1$ and $tau = 1$ means $|k|^2 < ln 2$. For unit keys the "
            "factor is $1 - e = -1.718$ per write. With the normaliser, $u_t = v/2$ from the third write on.");
  c.runs({"delta_former"});
  c.takes({real_param("square_norm", 1, 1e-3, 8, "$|k|^2$"), real_param("beta", 1, 1e-3, 1, "$beta = alpha$")});
  c.at({{},
        {{"square_norm", 0.5}},
        {{"square_norm", std::log(2.0)}},
        {{"square_norm", 0.8}},
        {{"beta", 0.9}},
        {{"beta", 0.5}},
        {{"beta", 2 / std::exp(1.0)}}});
  c.also([](Points &points, const Protocol &) {
    const auto size = [](double square) { return std::fabs(residual_factor(square, 1, 6)); };
    const auto place = [](double square) { return labels({{"square_norm", square}, {"beta", 1}}); };
    points.at(place(0.8))
        .wrong_system("a residual that does not grow at $|k|^2 = 0.8$", at_most_point(size(0.8), 1, 0));
    points.at(place(0.5)).wrong_system("a residual that grows at $|k|^2 = 0.5$", at_least_point(size(0.5), 1, 0));
    for (int writes : {10, 40}) {
      const Dense k(writes, 1, Vector(writes, 1.0)), v = k;
      points.at(place(1).set("writes", writes)).rounding(4.0 * writes);
      points.obligation("last u with the normaliser, against $v/2$", last_written(k, v, "softmax")(0, 0), 0.5);
      points.wrong_system("last u without the normaliser", last_written(k, v, "exp")(0, 0), 0.5);
    }
  });
  return measure(c, [](Points &points, const Params &p, double square, double step) {
    const double kappa = std::exp(square), factor = 1 - step * kappa;
    if (std::fabs(factor) < 0.01) usage_error("one write stores the value exactly, so no residual is left to measure");
    const int writes = 6;
    // The residual after m writes is factor^m. It is computed as 1 - o. In units of eps, the rounding error of 1 - o is
    // kappa m times the largest u or 1, whichever is larger.
    const double largest = std::max(1.0, std::pow(std::fabs(factor), writes)),
                 smallest = std::min(1.0, std::pow(std::fabs(factor), writes));
    points.at(Params(p).set("writes", writes));
    points.rounding(16 * writes * kappa * largest / smallest * std::max(1.0, std::fabs(factor)));
    points
        .statement("residual after a write / residual before it, against $1 - beta kappa(k,k)$",
                   residual_factor(square, step, writes), factor)
        .but_not("$1 + beta kappa(k,k)$", 1 + step * kappa)
        .but_not("$kappa(k,k) = 1 + |k|^2$", 1 - step * (1 + square));
  });
}
} // namespace

std::vector<Claim> deltaformer_normaliser() {
  return {common_factor(), eq94_is_another_model(), indices_of_z(), stability()};
}
} // namespace recollect::theory
