// SPDX-License-Identifier: Apache-2.0
// 000 Eq 77-79 and §2.2.1: softmax attention as a running mean. The law of large numbers for the normaliser, the
// recurrence of the mean, and the weights of new and of old writes.
#include "theory/support/hermite.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {
Vector reads(const std::string &variant, const Sequence &s, const Assignments &set = {}) {
  return run(variant, s, set, "fast", 64).o;
}
const Assignments unscaled = {{"scale", "1"}};

/// For every run with independent Gaussian keys: `sums` is the sum over j <= t of exp(factor q.k_j), and `expansions`
/// the mean over j of the Hermite terms of exp(q.k_j) / exp(|q|^2/2). Keys of one channel suffice, because q.k is N(0,
/// |q|^2).
struct Normalisers {
  Vector sums, expansions;
};
constexpr int expanded = 6; // order of the Hermite terms
Normalisers normalisers(int t, double square, double factor, std::uint64_t seed, size_t first, size_t runs) {
  Sequence s = of_shape({int(runs), 1, t, 1, 1});
  s.k = Stream(seed, "eq 77/keys", t).normals(runs * t, first * t);
  s.q.assign(s.k.size(), std::sqrt(square)), s.v.assign(s.k.size(), 1.0);
  const Vector sums = reads("exp_unnormalized", s, {{"scale", number(factor)}});
  Normalisers of{{}, Vector(runs, 0.0)};
  for (size_t run = 0; run < runs; ++run) {
    of.sums.push_back(sums[(run + 1) * t - 1]);
    for (int j = 0; j < t; ++j)
      of.expansions[run] += summed(hermite_terms(std::sqrt(square), s.k[run * t + j], expanded)) / t;
  }
  return of;
}

Claim law_of_large_numbers() {
  ClaimBuilder c("softmax-lln", "000 Eq 77-79");
  c.says("For sufficiently large $t$, by the law of large numbers, $sum_{j<=t} exp(q.k_j)$ is about $t c(q)$, where "
         "$c(q)$ depends on the query only.");
  c.exactly("For independent Gaussian keys $c(q) = exp(|q|^2/2)$. The relative root mean square error at $t$ is "
            "$sqrt((exp(|q|^2) - 1)/t)$.");
  c.because("The statement is true. How large $t$ must be depends on the query: $t$ must be much larger than "
            "$exp(|q|^2)$. For unscaled queries of width 64 no text is long enough.");
  c.holds_asymptotically(), c.runs({"exp_unnormalized"});
  c.takes({integer_param("t", 4, 2, 256, "steps"), real_param("square", 0.25, 0.05, 1, "$|q|^2$")});
  c.at({{{"square", 1}}, {{"t", 16}, {"square", 0.5}}});
  return measure(c, [](Points &points, const Protocol &protocol, int t, double square) {
    const double c = std::exp(square / 2), excess = std::exp(square) - 1;
    // The Hermite terms are a control variate: the mean of their sum is 0, and the mean square of their sum is `known`.
    double known = 0;
    for (int n = 1; n <= expanded; ++n) known += hermite_square(std::sqrt(square), n);
    Vector means, damped;
    const auto draw = [&](size_t first, size_t runs) {
      const Normalisers of = normalisers(t, square, 1, protocol.seed, first, runs);
      Vector squares;
      for (size_t run = 0; run < runs; ++run) {
        const double off = of.sums[run] / t / c - 1, expansion = of.expansions[run];
        means.push_back(c * (1 + off - expansion));
        squares.push_back(t * (off * off - expansion * expansion) + known);
      }
      return squares;
    };
    const Mean error =
        sample_mean(wanted_sensitivity(protocol), 2000, size_t(8e7) / t, Blocks{size_t(50000 / t + 1), draw, true});
    for (double sum : normalisers(t, square, 1 / std::sqrt(2.0), protocol.seed, 0, 40000 / t).sums)
      damped.push_back(sum / t);
    const double series = 1 + square / 2;
    points.statement("t times the mean square of $Z_t/(t c) - 1$, $Z_t = sum_{j<=t} exp(q.k_j)$, against 0", error, 0);
    auto mean =
        points
            .obligation("mean of $Z_t/t$, $Z_t = sum_{j<=t} exp(q.k_j)$, against $c = exp(|q|^2/2)$", mean_of(means), c)
            .but_not("$c = exp(|q|^2)$", std::exp(square));
    if (c - series > 13 * mean_of(means).standard_error) mean.but_not("$c = 1 + |q|^2/2$", series);
    points.wrong_system("scores divided by $sqrt 2$", mean_of(damped), c);
    auto spread =
        points
            .limit(
                "t times the mean square of $Z_t/(t c) - 1$, $Z_t = sum_{j<=t} exp(q.k_j)$, against $exp(|q|^2) - 1$",
                error, excess)
            .but_not("$exp(|q|^2)$", excess + 1)
            .but_not("$exp(|q|^2/2) - 1$", c - 1);
    if (square + square * square / 2 < 0.97 * excess) spread.but_not("$|q|^2 + |q|^4/2$", square + square * square / 2);
  });
}

Claim running_mean() {
  ClaimBuilder c("eq79-recurrence", "000 Eq 79");
  c.says("$S_t = (t-1)/t S_{t-1} + v_t phi(k_t)^T / t$ is the mean of $v_i phi(k_i)^T$ over $i <= t$.");
  c.exactly("An identity.");
  c.runs({"gated_linear"}), c.takes({steps_param(20, 2, 200), key_width_param(8, 1, 64), value_width_param(4, 1, 64)});
  return measure(c, [](Points &points, Seed seed, int T, int d, int dv) {
    Sequence s = random_sequence({1, 1, T, d, dv}, seed, Keys::gaussian);
    s.lambda.clear();
    const auto mean_of_first = [&](int terms, double divisor) {
      Dense sum(dv, d);
      for (int t = 0; t < terms; ++t)
        sum = sum + outer(steps_of(s.v, s.shape, t, t + 1), steps_of(s.k, s.shape, t, t + 1));
      return (1 / divisor * sum).data;
    };
    const Sequence mean = averaged(s);
    s.alpha = mean.alpha; // the gates of the mean, with values that are not divided by t
    points.rounding(rounding_units("gated_linear", s))
        .statement("$S_T$ against the mean of $v_t phi(k_t)^T$ over all steps", run("gated_linear", mean).state,
                   mean_of_first(T, T))
        .but_not("divided by $T + 1$", mean_of_first(T, T + 1))
        .but_not("the last write left out", mean_of_first(T - 1, T));
    points.wrong_system("writes not divided by t", run("gated_linear", s).state, mean_of_first(T, T));
  });
}

/// A sequence whose last read shows the weights of the oldest, the middle and the newest write. The scores are 0, or
/// they come from random unit keys and one random query.
struct Weights {
  Sequence s;
  Vector scores; // q.k_i
};
Weights weights_of(int t, bool equal, std::uint64_t seed) {
  const int d = 8;
  Weights w{random_sequence({1, 1, t, d, 3}, seed, Keys::unit), Vector(t, 0.0)};
  w.s.v.assign(3 * size_t(t), 0.0);
  for (int i = 0; i < 3; ++i) w.s.v[3 * (i == 0 ? 0 : i == 1 ? t / 2 : t - 1) + i] = 1;
  const Vector q(w.s.q.end() - d, w.s.q.end());
  if (equal) w.s.q.assign(w.s.q.size(), 0.0);
  for (int i = 0; i < t && !equal; ++i) w.scores[i] = inner(&w.s.k[size_t(i) * d], q.data(), d);
  return w;
}
Vector last_read(const std::string &variant, const Sequence &s, const Assignments &set = {}) {
  const Vector o = reads(variant, s, set);
  return Vector(o.end() - 3, o.end());
}
/// kappa_i / Z_t of the oldest, the middle and the newest write.
Vector shares(const Vector &scores) {
  const size_t t = scores.size();
  double Z = 0;
  for (double x : scores) Z += std::exp(x);
  return {std::exp(scores[0]) / Z, std::exp(scores[t / 2]) / Z, std::exp(scores[t - 1]) / Z};
}

const std::vector<ParamSpec> steps = {integer_param("t", 1000, 3, 4000, "steps")};

Claim write_in_vanishes() {
  ClaimBuilder c("softmax-write-in-vanishes", "000 §2.2.1");
  c.says("For large $t$ softmax attention's normaliser scales a newly written $v_t$ by about $1/t$, so that the "
         "write-in term tends to 0.");
  c.exactly("The factor is exactly $1/t$ in Eq 79. In softmax attention itself it is $kappa(q,k_t)/Z_t$ with $Z_t = "
            "sum_{j<=t} kappa(q,k_j)$.");
  c.because("At the same step the weights of older pairs are scaled down too (softmax_later_attenuated).");
  c.runs({"softmax", "gated_linear", "exp_unnormalized"}), c.takes(steps), c.at({{}, {{"t", 3}}});
  return measure(c, [](Points &points, Seed seed, int t) {
    const Weights equal = weights_of(t, true, seed), random = weights_of(t, false, seed);
    Sequence mean = averaged(equal.s); // Eq 79 with the same key at every step
    for (int i = 0; i < t; ++i) std::copy_n(mean.k.begin(), 8, &mean.k[size_t(i) * 8]);
    mean.q = mean.k, mean.lambda.clear();
    points
        .rounding(16.0 * t) // t exponentials and their sum, relative to weights of up to 1
        .statement("weight of the newest write at equal scores, against $1/t$", last_read("softmax", equal.s)[2],
                   1.0 / t)
        .but_not("$1/sqrt t$ in place of $1/t$", 1 / std::sqrt(t))
        .but_not("$1/(t+1)$ in place of $1/t$", 1.0 / (t + 1));
    points.wrong_system("softmax attention without its normaliser", last_read("exp_unnormalized", equal.s)[2], 1.0 / t);
    points.statement("weight of the newest write in Eq 79, against $1/t$", last_read("gated_linear", mean)[2], 1.0 / t);
    points.obligation("weight of the newest write at random scores against $kappa_t / Z_t$",
                      last_read("softmax", random.s, unscaled)[2], shares(random.scores)[2]);
  });
}

Claim later_is_attenuated() {
  ClaimBuilder c("softmax-later-attenuated", "000 §2.2.1");
  c.says("For large $t$ softmax attention's normaliser attenuates information increasingly the closer it is to the "
         "future. Gated linear attention reverses the direction of this decay.");
  c.is_refuted(asserted(
      "§2.2.1, second bullet: normalisation 'is approximately equivalent to scaling the newly written information by a "
      "decaying factor $1/t$. This implies that information closer to the future is increasingly attenuated'.",
      "$t$ large",
      "The text continues 'Reversing the decay direction makes more sense. Gated linear attention implements this "
      "reversed decay'. This contrast rests on the sentence.",
      "We speak of the write-in term alone: $(1/t) v_t k_t^T$ does shrink with $t$, which slows the growth of $S$, and "
      "a later item moves the memory less when it is written. That the past is rescaled by $(t-1)/t$ at the same time "
      "is in our Table 2."));
  c.exactly("Every step multiplies all older items by $(t-1)/t$. So all $t$ items have the weight $1/t$, and a read "
            "does not depend on their order.");
  c.because(
      "The write-in term does fall as $1/t$ (softmax_write_in_vanishes). But the text leaves out that at the same step "
      "$A_t$ rescales the past, so that all weights stay equal. There is no decay in either direction to be reversed.");
  c.runs({"softmax", "exp_unnormalized", "gated_softmax"}), c.takes(steps), c.at({{}, {{"t", 50}}});
  return measure(c, [](Points &points, Seed seed, int t) {
    const Weights equal = weights_of(t, true, seed), random = weights_of(t, false, seed);
    const Vector weights = last_read("softmax", equal.s), mixed = last_read("softmax", random.s, unscaled);
    Sequence shuffled = random.s, never = equal.s, gated = equal.s;
    const std::vector<int> order = Stream(seed, "softmax/order").permutation(t);
    for (int i = 0; i < t; ++i) {
      std::copy_n(&random.s.k[size_t(order[i]) * 8], 8, &shuffled.k[size_t(i) * 8]);
      std::copy_n(&random.s.v[size_t(order[i]) * 3], 3, &shuffled.v[size_t(i) * 3]);
    }
    std::copy_n(random.s.q.end() - 8, 8, shuffled.q.end() - 8);
    gated.alpha.assign(t, 0.99), never.v = averaged(equal.s).v;
    const Vector summed = last_read("exp_unnormalized", never), forgetful = last_read("gated_softmax", gated);
    points.rounding(64.0 * t); // as in write_in_vanishes, and for a quotient of two weights
    points.statement("equal scores: weight of the newest write / weight of the oldest, against $1/t$, as if write $i$ "
                     "kept the weight $1/i$ with which it enters",
                     weights[2] / weights[0], 1.0 / t); // as printed
    points.obligation("equal scores: weights of the oldest, a middle and the newest write against $1/t$", weights,
                      Vector(3, 1.0 / t));
    points.obligation("equal scores: weight of the newest write / weight of the oldest, against 1",
                      weights[2] / weights[0], 1);
    points.wrong_system("$A = I$: write $i$ divided by $i$ and never rescaled", summed[2] / summed[0], 1);
    points.wrong_system("a gate of 0.99 at every step", forgetful[2] / forgetful[0], 1);
    points.obligation("random scores: weights of the oldest, a middle and the newest write against $kappa_i / Z_t$",
                      mixed, shares(random.scores));
    points.obligation("random scores: the read after the writes in another order, against the read in the first order",
                      last_read("softmax", shuffled, unscaled), mixed);
  });
}
} // namespace

std::vector<Claim> eq_79_softmax_as_mean() {
  return {law_of_large_numbers(), running_mean(), write_in_vanishes(), later_is_attenuated()};
}
} // namespace recollect::theory
