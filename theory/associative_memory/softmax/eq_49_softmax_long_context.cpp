// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2, softmax attention with its normaliser (Eq 49) and without: how fast the updates and the objective
// decrease with t. By Eq 79 the memory S_t is the running mean of v phi^T. It is run as gated linear attention with
// decay (t-1)/t and phi = k.
#include "theory/associative_memory/delta_rule/runs.hpp"

namespace recollect::theory {
namespace {
Output fast(const std::string &layer, const Sequence &s, const Assignments &set = {}) {
  return run(layer, s, set, "fast", 64);
}

const ParamSpec key_width = key_width_param(6, 1, 32), value_width = value_width_param(4, 1, 32);

/// S_{t-1} and S_t of every run, and the pair that step t writes.
struct Update {
  Vector before, after, k, v;
};
/// The last update of the running mean or of the plain sum.
Update last_update(bool mean, int t, int d, int dv, const Stretch &stretch) {
  const Sequence past = random_runs(KeyLaw::gaussian, t - 1, d, dv, stretch);
  Sequence last =
      random_runs(KeyLaw::gaussian, 1, d, dv, {stretch.seed, stretch.stream + "/last", stretch.first, stretch.runs});
  const Vector v = last.v;
  const std::string layer = mean ? "gated_linear" : "linear";
  last.state = fast(layer, mean ? averaged(past) : past).state;
  const Vector after = fast(layer, mean ? averaged(last, t) : last).state;
  return {last.state, after, last.k, v};
}
/// t^2 |S_t - S_{t-1}|^2 of every run.
Vector scaled_squares(const Update &u, int t, int d, int dv) {
  Vector squares(u.before.size() / (d * dv), 0.0);
  for (size_t e = 0; e < u.before.size(); ++e) squares[e / (d * dv)] += std::pow(t * (u.after[e] - u.before[e]), 2);
  return squares;
}

Claim updates_fade() {
  ClaimBuilder c("eq49-update-1-over-t", "000 Eq 49, §2.2 Softmax, §2.2.2");
  c.says("When $t$ is sufficiently large the factor $1/t$ makes the gradient of softmax attention's objective approach "
         "zero, and $S$ gradually ceases to update.");
  c.exactly("At every $t$, $|S_t - S_{t-1}| = |v phi^T - S_{t-1}| / t$ with $phi = phi(k_t)$ and $v = v_t$. For "
            "zero-mean independent pairs the mean of $t^2 |S_t - S_{t-1}|^2$ is $(1 + 1/(t-1)) E|v|^2 |phi|^2$.");
  c.because("$S$ converges to $E v phi^T$. The common factor $1/t$ cancels in the read, so it does not change the "
            "contrast between stored items.");
  c.runs({"gated_linear", "linear", "softmax"});
  c.takes({integer_param("t", 2, 2, 2000, "step"), key_width, value_width}), c.at({{}, {{"t", 3}}, {{"t", 1000}}});
  c.last([](Points &points, const Protocol &protocol) {
    // The layer softmax at a query that stays the same: o_t - o_{t-1} = (kappa_t / Z_t) (v_t - o_{t-1}).
    Sequence s = random_sequence({1, 1, 200, 6, 4}, protocol.seed, Keys::unit);
    for (size_t i = 6; i < s.q.size(); ++i) s.q[i] = s.q[i - 6];
    const Vector o = fast("softmax", s, {{"scale", "1"}}).o;
    Vector changes, shares;
    double Z = std::exp(inner(s.q.data(), s.k.data(), 6));
    for (int t = 1; t < 200; ++t) {
      const double kappa = std::exp(inner(s.q.data(), &s.k[t * 6], 6));
      Z += kappa;
      for (int c = 0; c < 4; ++c) {
        changes.push_back(o[t * 4 + c] - o[(t - 1) * 4 + c]);
        shares.push_back(kappa / Z * (s.v[t * 4 + c] - o[(t - 1) * 4 + c]));
      }
    }
    points.at({{"T", 200}})
        .rounding(16 * 200 * max_abs(s.v))
        .obligation("softmax: $o_t - o_{t-1}$ at one query against $kappa_t/Z_t (v_t - o_{t-1})$, every t", changes,
                    shares);
  });
  return measure(c, [](Points &points, const Protocol &protocol, int t, int d, int dv) {
    const Stretch single{protocol.seed, "update", 0, 1};
    const Update one = last_update(true, t, d, dv, single), plain = last_update(false, t, d, dv, single);
    Vector moved, unfaded, gap;
    for (int e = 0; e < d * dv; ++e) {
      moved.push_back(t * (one.after[e] - one.before[e]));
      unfaded.push_back(t * (plain.after[e] - plain.before[e]));
      gap.push_back(one.v[e / d] * one.k[e % d] - one.before[e]);
    }
    const Dense rival_growth = Dense(dv, d, gap) + 2 * Dense(dv, d, one.before),
                rival_rate = std::sqrt(t) * Dense(dv, d, gap);
    const double units = 16.0 * t * (t + 1) * (1 + max_abs(gap)); // the difference of two means of t terms, times t
    points.rounding(units)
        .statement("$t (S_t - S_{t-1})$ against $v phi^T - S_{t-1}$", moved, gap)
        .but_not("$v phi^T + S_{t-1}$", rival_growth.data)
        .but_not("$1/sqrt t$ in place of $1/t$", rival_rate.data);
    points.wrong_system("the plain sum, whose updates do not fade", unfaded, gap);
    if (t > 100) return; // longer runs take time and add no information about the law of the mean
    const double law = d * dv * t / (t - 1.0);
    const auto draw = [&](const Stretch &stretch) {
      return scaled_squares(last_update(true, t, d, dv, stretch), t, d, dv);
    };
    const Mean mean = mean_over_runs(protocol.seed, "update size", wanted_sensitivity(protocol), t, d + dv, draw);
    auto square = points.statement("mean of $t^2 |S_t - S_{t-1}|^2$ against $d dv (1 + 1/(t-1))$", mean, law);
    if (t <= 3) // at larger t the samples cannot tell these laws apart
      square.but_not("$1 + 1/t$ in place of $1 + 1/(t-1)$", d * dv * (1 + 1.0 / t))
          .but_not("$1$ in place of $1 + 1/(t-1)$", d * dv);
  });
}

/// t L_t = 1/2 |S|^2 - <S phi, v> of every run. Its mean over the next pair, with v = M k + e, is 1/2 |S|^2 - <S, M>.
Vector brackets(const std::string &layer, const Dense &M, int past, const Stretch &stretch) {
  const int d = M.columns, dv = M.rows;
  Sequence s = random_runs(KeyLaw::gaussian, past, d, dv, stretch);
  const Vector signal = mapped(M, s.k);
  for (size_t i = 0; i < s.v.size(); ++i) s.v[i] += signal[i];
  return each_state(fast(layer, averaged(s)),
                    [&](const double *S) { return inner(S, S, d * dv) / 2 - inner(S, M.data.data(), d * dv); });
}

Claim objective_fades() {
  ClaimBuilder c("eq49-objective-vanishes", "000 Eq 49, §2.2 Softmax, §2.2.2");
  c.says("When $t$ is sufficiently large, the factor $1/t$ makes the objective $L_t(S_{t-1})$ of softmax attention "
         "tend to 0.");
  c.holds_asymptotically();
  c.exactly("$t E L_t$ tends to $-1/2 |E v phi^T|^2$, so that $L_t$ is about $-c/t$ with a constant $c$. For $v = M k "
            "+ e$ and Gaussian $k$ and $e$: $t E L_t = -|M|^2/2 + ((d+1) |M|^2 + d dv) / (2 (t-1))$.");
  c.because("The statement is true, but only the scale vanishes. The factor $1/t$ does not move the minimum of the "
            "objective.");
  c.runs({"gated_linear", "linear"}), c.takes({integer_param("t", 17, 2, 1000, "step"), key_width, value_width});
  c.at({{}, {{"t", 65}}});
  return measure(c, [](Points &points, const Protocol &protocol, int t, int d, int dv) {
    const Dense M = normal_matrix(dv, d, protocol.seed, "objective/map");
    const double map = inner(M.data, M.data), limit = -map / 2,
                 law = limit + ((d + 1) * map + d * dv) / (2.0 * (t - 1));
    const auto mean_bracket = [&](const std::string &layer, double wanted) {
      return mean_over_runs(protocol.seed, "objective", wanted, t, d + dv,
                            [&](const Stretch &stretch) { return brackets(layer, M, t - 1, stretch); });
    };
    const Mean mean = mean_bracket("gated_linear", wanted_sensitivity(protocol));
    points.statement("mean of $t L_t$ against 0: $L_t = 0$ at this t", mean, 0);
    points.limit("mean of $t L_t$ against $-|M|^2/2 + ((d+1) |M|^2 + d dv) / (2 (t-1))$", mean, law)
        .but_not("$-|M|^2$ in place of $-|M|^2/2$", law + limit)
        .but_not("the law if $L_t$ fell as $1/t^2$", law / t)
        .but_not("$-|M|^2/2$, the limit, already at this t", limit);
    points.wrong_system("the plain sum, whose past writes are not rescaled", mean_bracket("linear", 0.2), law);
  });
}

/// (S_t - S_{t-1}) phi(k_t): the read at the last key, minus the same read without the last write.
Vector last_change(const std::string &variant, const Sequence &s) {
  Sequence without = s;
  std::fill(without.v.end() - s.shape.Dv, without.v.end(), 0.0);
  const Vector now = fast(variant, s, {{"scale", "1"}}).o, before = fast(variant, without, {{"scale", "1"}}).o;
  const Vector change = minus(now, before);
  return {change.end() - s.shape.Dv, change.end()};
}

Claim unnormalised_updates() {
  ClaimBuilder c("unnormalised-update-size", "000 §2.2.2 Softmax");
  c.says("Without the normaliser the gradient of softmax attention's objective does not vanish as $t$ increases. (The "
         "objective is then unbounded: objective_boundedness.)");
  c.exactly("At every $t$ the update is $S_t - S_{t-1} = v_t phi(k_t)^T$, whose norm is $|v_t| |phi(k_t)|$.");
  c.runs({"exp_unnormalized", "softmax"});
  c.takes({integer_param("t", 1000, 2, 4000, "step"), key_width, value_width}), c.at({{}, {{"t", 10}}});
  return measure(c, [](Points &points, Seed seed, int t, int d, int dv) {
    Sequence s = random_sequence({1, 1, t, d, dv}, seed, Keys::unit);
    for (double &x : s.k) x *= 1.2;
    std::copy_n(s.k.end() - d, d, s.q.end() - d);
    const double *k = &s.k[size_t(t - 1) * d];
    const Vector v(s.v.end() - dv, s.v.end()), measured = last_change("exp_unnormalized", s);
    const auto times_v = [&](double factor) { return (factor * Dense(dv, 1, v)).data; };
    const double square = std::exp(inner(k, k, d));
    points
        .rounding(32.0 * t * square * max_abs(s.v) * t) // reads have the size t
        .statement("$(S_t - S_{t-1}) phi(k_t)$ against $v_t |phi(k_t)|^2$", measured, times_v(square))
        .but_not("$v_t |phi(k_t)|^2 / t$", times_v(square / t))
        .but_not("$v_t |phi(k_t)|^2 / sqrt t$", times_v(square / std::sqrt(t)));
    points.wrong_system("softmax attention with its normaliser", last_change("softmax", s), times_v(square));
  });
}
} // namespace

std::vector<Claim> eq_49_softmax_long_context() {
  return {updates_fade(), objective_fades(), unnormalised_updates(),
          not_tested(
              "softmax-icl-diminishes", "000 §2.2.2 Softmax", Reason::not_numeric,
              "Since the updates of $S$ fade, the in-context learning of softmax attention gradually diminishes as the "
              "context grows. A very long cache is an ocean of low signal-to-noise ratio.",
              "The claim snr_exp measures the noise: at fixed $d$ and $tau$ the inverse SNR of $N$ pairs grows as $N - "
              "1$. The statement that learning fades because of a common factor $1/t$ cannot be measured, since this "
              "factor cancels in the read.",
              "The claim eq49_update_1_over_t measures the factor $1/t$ itself.")};
}
} // namespace recollect::theory
