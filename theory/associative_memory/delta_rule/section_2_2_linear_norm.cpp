// SPDX-License-Identifier: Apache-2.0
// 000 §2.2 first bullet, §2.2.1 second bullet, footnote 14: the norm of a sum of outer products, with and without
// decay.
#include "theory/associative_memory/delta_rule/runs.hpp"

namespace recollect::theory {
namespace {
const ParamSpec key_width = key_width_param(8, 2, 32), value_width = value_width_param(4, 2, 32);

/// |S k| after an even number t of writes at one unit key k. The value has length 1 and changes its sign at every step.
double turning(int t) {
  return std::fabs(run("linear", stored({1, 1, t, 1, 1}, Vector(t, 1.0), repeated({1, -1}, t / 2))).o.back());
}

Claim growth() {
  ClaimBuilder c("linear-norm-growth", "000 §2.2 first bullet, footnote 14");
  c.says(
      "The objective of linear attention without decay is unbounded; as $t$ increases, the norm of $S$ $k$ explodes.");
  c.holds_under("the pairs are independent and of zero mean, and 'the norm' is its mean over such pairs");
  c.exactly("For independent standard Gaussian keys and values $E|S_t|_F^2 = E|S_t k|^2 = t d dv$, where $k$ is a new "
            "key, and the spectral norm $|S_t|_2$ is about $sqrt t (sqrt d + sqrt dv)$. If the values depend on the "
            "keys, $|S_t|$ grows as $t |E v k^T|$.");
  c.because("The statement is true on average over random pairs. The norm need not grow at every step, nor for every "
            "sequence (linear_norm_inevitable).");
  c.runs({"linear", "gated_linear"}), c.takes({integer_param("t", 16, 4, 256, "steps"), key_width, value_width});
  return measure(c, [](Points &points, const Protocol &protocol, int t, int d, int dv) {
    const double pairs = d * dv;
    const auto over_runs = [&](const std::string &stream, double wanted, const auto &draw) {
      return mean_over_runs(protocol.seed, stream, wanted, t, d + dv, draw);
    };
    const double wanted = wanted_sensitivity(protocol);
    const auto states_of = [&](const std::string &variant, const Stretch &stretch) {
      const Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
      return run(variant, filled(s, &Sequence::alpha, 0.5)); // only the memory with decay reads alpha
    };
    points.statement("one key, values of alternating sign: $|S k|$, at least $|v|$",
                     at_least_point(turning(2 * t), 1, 0));
    const auto square_of = [&](const std::string &variant, double sensitivity) {
      return over_runs("linear norm", sensitivity,
                       [&](const Stretch &stretch) { return state_squares(states_of(variant, stretch), t); });
    };
    points.condition("mean of $|S_t|_F^2 / t$ against d dv", square_of("linear", wanted), pairs)
        .but_not("$(d-1) dv$", (d - 1) * dv)
        .but_not("$t d dv$, as if $|S_t|$ grew as t", t * pairs);
    points.wrong_system("a decay of 0.5", square_of("gated_linear", rough), pairs);
    const Mean read = over_runs("linear reads", wanted, [&](const Stretch &stretch) {
      Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
      s.q = stretch.normals("queries", size_t(t) * d);
      const Vector o = run("linear", s).o;
      Vector reads(stretch.runs, 0.0);
      for (size_t row = 0; row < o.size() / dv; ++row)
        reads[row / t] += inner(&o[row * dv], &o[row * dv], dv) / (row % t + 1) / t;
      return reads;
    });
    points.condition("mean of $|S_t k|^2 / t$ for a new key k, over all steps, against d dv", read, pairs);
    const auto spectral = [&](const std::string &variant) {
      const size_t runs = protocol.full() ? 8000 : 500;
      const auto square = [=](const double *S) {
        return std::pow(spectral_norm(Dense(dv, d, Vector(S, S + d * dv))), 2) / t;
      };
      const Output states = states_of(variant, {protocol.seed, "spectral norm", 0, runs});
      return at_least_point(mean_of(each_state(states, square)), std::max(d, dv));
    };
    points.obligation("mean of $|S_t|_2^2 / t$, at least $|S_t|_F^2 / (t min(d, dv))$", spectral("linear"));
    points.wrong_system("a decay of 0.5", spectral("gated_linear"));
    const Dense M = normal_matrix(dv, d, protocol.seed, "linear norm/map"); // v = M k + e
    const double map = inner(M.data, M.data);
    const Mean related = over_runs("related pairs", wanted, [&](const Stretch &stretch) {
      Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
      const Vector signal = mapped(M, s.k);
      for (size_t i = 0; i < s.v.size(); ++i) s.v[i] += signal[i];
      return state_squares(run("linear", s), double(t) * t);
    });
    points
        .condition("$v = M k + e$: mean of $|S_t|_F^2 / t^2$ against $|M|^2 (1 + (d+1)/t) + d dv / t$", related,
                   map * (1 + (d + 1.0) / t) + pairs / t)
        .but_not("$d dv / t$, as if $|S_t|$ grew as $sqrt t$", pairs / t);
  });
}

/// The largest read at one key k over t = 1 ... T, where each step writes v or -v at k. It is divided by |k| for linear
/// attention, and by kappa(k,k) for the exp kernel. Every S_t is a multiple of v phi(k)^T, so that the size of a read
/// measures the norm of S_t. `negative(t)` says which writes are -v.
double largest_norm(const std::string &variant, const Vector &k, const Vector &v, int T,
                    const std::function<bool(int)> &negative) {
  Sequence s = of_shape({1, 1, T, int(k.size()), int(v.size())});
  for (int t = 0; t < T; ++t) {
    s.k.insert(s.k.end(), k.begin(), k.end());
    for (double x : v) s.v.push_back(negative(t) ? -x : x);
  }
  s.q = s.k;
  const Vector o = run(variant, s, {{"scale", "1"}}).o;
  double largest = 0;
  for (int t = 0; t < T; ++t)
    largest = std::max(largest, std::sqrt(inner(&o[t * v.size()], &o[t * v.size()], int(v.size()))));
  return largest / std::sqrt(variant == "linear" ? inner(k, k) : std::exp(inner(k, k)));
}

Claim inevitable() {
  ClaimBuilder c("linear-norm-inevitable", "000 §2.2.1 second bullet");
  c.says("It can be proved that every memory $S_t = S_{t-1} + v_t k_t^T$, with a kernel or without, inevitably grows "
         "in spectral norm over time.");
  c.is_refuted(stricter(
      "§2.2.1, second bullet: 'It can be mathematically proved that memory models of the form $S_t = S_{t-1} + v_i "
      "k_i^T$ inevitably experience growth in the spectral norm of $S$ over time, resulting in numerical instability'.",
      "a stream of pairs, whose distribution is not stated",
      "The paragraph continues with typical contexts; it does not mention values that cancel at one key."));
  c.exactly("With $v_t = (-1)^t v$ at one key the norm never exceeds $|v||k|$. The statement needs an assumption on "
            "the distribution of the pairs (linear_norm_growth).");
  c.because("With independent zero-mean pairs the norm does grow on average, which is what the text means. Without an "
            "assumption on the pairs there is no proof.");
  c.runs({"linear", "exp_unnormalized"}), c.takes({steps_param(1000, 4, 10000)});
  return measure(c, [](Points &points, Seed seed, int T) {
    Vector k = Stream(seed, "bounded sum/key").normals(5), v = Stream(seed, "bounded sum/value").normals(3);
    normalise_rows(k, 5);
    for (double &x : k) x *= 1.5;
    const double once = std::sqrt(inner(k, k) * inner(v, v)), featured = std::sqrt(std::exp(inner(k, k)) * inner(v, v)),
                 wrong_growth = 2 * once;
    const auto one_sign = [](int) { return false; };
    const auto alternate = [](int t) { return t % 2 == 1; };
    const int pairs = T / 4; // after 2 pairs steps S = 0, and one sign occurs twice in a row
    const auto turned = [pairs](int t) { return t % 2 == (t > 2 * pairs ? 0 : 1); };
    const auto largest = [&](const std::string &variant, const auto &signs) {
      return largest_norm(variant, k, v, T, signs);
    };
    points.rounding(64.0 * T * featured);
    points.statement("values v and -v in turn at one key k: largest $|S_t|$ over all steps, at least $2 |v||k|$",
                     at_least_point(largest("linear", alternate), wrong_growth, 0));
    points.obligation("values v and -v in turn at one key k: largest $|S_t|$ over all steps against $|v||k|$",
                      largest("linear", alternate), once);
    points.wrong_system("the value v at every step", largest("linear", one_sign), once);
    points.wrong_system("values v and -v in turn, but one of them twice in a row", largest("linear", turned), once);
    points.obligation(
        "values v and -v in turn at one key k, exp kernel: largest $|S_t|$ over all steps against $|v||phi(k)|$",
        largest("exp_unnormalized", alternate), featured);
  });
}

Claim decay_bounds_and_forgets() {
  ClaimBuilder c("gla-bounded-forgets", "000 §2.2 first bullet");
  c.says("The memory decay of gated linear attention mitigates the exploding norm, at the expense of forgetting.");
  c.exactly("For a constant scalar $lambda < 1$ and independent standard Gaussian pairs $E|S_t|_F^2 = d dv (1 - "
            "lambda^(2t)) / (1 - lambda^2)$. An item that was written $m$ steps ago is multiplied by $lambda^m$.");
  c.runs({"gated_linear", "linear"});
  c.takes(
      {real_param("lambda", 0.9, 0.3, 0.97, "decay"), integer_param("t", 10, 2, 128, "steps"), key_width, value_width});
  c.at({{{"t", 3}}, {}, {{"t", 40}}});
  return measure(c, [](Points &points, const Protocol &protocol, double lambda, int t, int d, int dv) {
    const double pairs = d * dv;
    const auto square_of = [&](const std::string &variant, double wanted) {
      const auto draw = [&](const Stretch &stretch) {
        const Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
        return state_squares(run(variant, filled(s, &Sequence::alpha, lambda)));
      };
      return mean_over_runs(protocol.seed, "decayed norm", wanted, t, d + dv, draw);
    };
    const auto bound = [&](int power) { return pairs * (1 - std::pow(lambda, power)) / (1 - lambda * lambda); };
    const double law = bound(2 * t), shorter = bound(2 * t - 1);
    auto square = points.statement("mean of $|S_t|_F^2$ against $d dv (1 - lambda^(2t)) / (1 - lambda^2)$",
                                   square_of("gated_linear", wanted_sensitivity(protocol)), law);
    square.but_not("$d dv / (1 - lambda)$", pairs / (1 - lambda));
    if (shorter < 0.9 * law) square.but_not("$2 t - 1$ in place of $2 t$", shorter);
    // At later steps the two laws differ by less than a sample mean can detect.
    if (std::pow(lambda, t) > 0.2) square.but_not("$lambda^t$ in place of $lambda^(2t)$", bound(t));
    points.wrong_system("linear attention, which has no decay", square_of("linear", rough), law);
    // What is left of the first write: a read at the first key after all writes, minus the same read without the first
    // write.
    Sequence all = random_runs(KeyLaw::gaussian, t, d, dv, {protocol.seed, "forgotten item", 0, 1});
    std::copy_n(all.k.begin(), d, all.q.end() - d);
    all.alpha.assign(t, lambda);
    Sequence others = all;
    std::fill_n(others.v.begin(), dv, 0.0);
    const Vector read = run("gated_linear", all).o, without = run("gated_linear", others).o;
    Dense left(1, dv), kept(1, dv);
    for (int c = 0; c < dv; ++c) {
      const double written = all.v[c] * inner(all.k.data(), all.k.data(), d);
      left(0, c) = read[(t - 1) * dv + c] - without[(t - 1) * dv + c];
      kept(0, c) = std::pow(lambda, t - 1) * written;
    }
    points.rounding(rounding_units("gated_linear", all) + rounding_units("gated_linear", others));
    points.statement("what is left of the first write at step t: $lambda^(t-1)$ of it", left, kept)
        .but_not("$lambda^(t-2)$ in place of $lambda^(t-1)$", 1 / lambda * kept);
  });
}
} // namespace

std::vector<Claim> section_2_2_linear_norm() { return {growth(), inevitable(), decay_bounds_and_forgets()}; }
} // namespace recollect::theory
