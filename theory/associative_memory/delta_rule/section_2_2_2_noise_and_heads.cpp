// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2 in cases where S* k_t differs from v_t: noise, normalised keys, low-rank heads (laws in delta_paths.hpp).
#include "theory/associative_memory/delta_rule/delta_paths.hpp"
#include "theory/associative_memory/objectives/optimal_memory.hpp"

namespace recollect::theory {
namespace {
/// The mean |S_T - S*|^2 of runs that begin at S*. If `slowing` is positive, beta_t = beta / (1 + t / slowing).
Mean error_from_optimum(const DeltaPaths &law, int T, double slowing, std::uint64_t seed, double wanted) {
  const Dense target = random_target(law.d, law.dv, seed);
  return mean_over_runs(seed, "noise floor", wanted, T, law.d + law.dv, [&](const Stretch &stretch) {
    Sequence s = draw_paths(law, T, target, stretch);
    s.state = repeated(target.data, stretch.runs);
    for (size_t i = 0; i < s.beta.size() && slowing > 0; ++i) s.beta[i] /= 1 + (i % T) / slowing;
    return squared_errors(run_paths(s), target);
  });
}

Claim noise_floor() {
  ClaimBuilder c("deltanet-noise-floor", "000 §2.2.2");
  c.says("Stricter reading: a memory at $S*$ is no longer updated, even if $S*$ cannot reproduce the values ($v = S* k "
         "+ e$).");
  c.is_refuted(
      outside("§2.2.2: 'When the memory is no longer updated, no new information is written into the memory'.",
              "$v = W_v x$ with invertible $W_k$, so that $S*$ reproduces every value",
              "The multi-head paragraph that follows drops the invertibility and calls $S*$ dependent on the data."));
  c.exactly("With a constant step size the state keeps fluctuating. If every channel of $e$ has variance $sigma^2$, "
            "$E|S - S*|^2$ tends to $beta sigma^2 dv d / (2 - beta)$ for unit keys, and to $beta sigma^2 dv d / (2 - "
            "beta (d+2))$ for Gaussian keys. With a step size that decreases like $1/t$ the state converges.");
  c.because("The paper's own values, $v = Wv x$ with an invertible $Wk$, leave no residual $e$. For them the statement "
            "holds (deltanet_fixed_point).");
  c.runs({"delta_net"});
  c.takes({real_param("beta", 0.5, 0.1, 1.6, "step size"), key_width_param(8, 2, 32), value_width_param(4, 1, 32)});
  c.at({{}, {{"beta", 1}}});
  return measure(c, [](Points &points, const Protocol &protocol, double beta, int d, int dv) {
    const int T = 4 * d;
    const double wanted = wanted_sensitivity(protocol);
    const DeltaPaths unit{KeyLaw::unit, d, dv, beta, 1}, silent{KeyLaw::unit, d, dv, beta, 0},
        gaussian{KeyLaw::gaussian, d, dv, 0.5 / (d + 2), 1};
    const auto error = [&](const DeltaPaths &law, double slowing, double sensitivity) {
      return error_from_optimum(law, T, slowing, protocol.seed, sensitivity);
    };
    // beta_t = beta / (1 + t / (2 d)): the recursion is the same, with beta_t for beta at step t.
    double slowed = 0;
    DeltaPaths now = unit;
    for (int t = 0; t < T; ++t) now.beta = beta / (1 + t / (2.0 * d)), slowed = now.square_after(1, slowed);
    const Mean constant = error(unit, 0, wanted);
    const double law = unit.square_after(T, 0), reached = law / unit.floor();
    points.statement("unit keys, start at $S*$: mean of $|S_T - S*|^2$ after $T = 4 d$ steps, against 0", constant, 0);
    points
        .obligation("unit keys, start at $S*$: mean of $|S_T - S*|^2$ against $beta dv d / (2 - beta) (1 - (1 - beta "
                    "(2-beta)/d)^T)$",
                    constant, law)
        .but_not("$beta dv d / 2$", beta * dv * d / 2 * reached)
        .but_not("$d - 1$ in place of $d$", law * (d - 1) / d)
        .but_not("the law for a decreasing step size", slowed);
    points.wrong_system("values without noise", error(silent, 0, rough), law);
    const double other = gaussian.square_after(T, 0);
    points
        .obligation("Gaussian keys, $beta = 0.5/(d+2)$: mean of $|S_T - S*|^2$ against its law, which tends to $beta "
                    "dv d / (2 - beta (d+2))$",
                    error(gaussian, 0, wanted), other)
        .but_not("$beta dv d / (2 - beta)$", other / gaussian.floor() * gaussian.beta * dv * d / (2 - gaussian.beta));
    points.obligation("$beta_t = beta / (1 + t/(2 d))$: mean of $|S_T - S*|^2$ against its law with this step size",
                      error(unit, 2.0 * d, wanted), slowed);
  });
}

Claim normalised_keys() {
  ClaimBuilder c("sstar-normalised-keys", "000 Eq 47 with L2-normalised keys");
  c.says("Extension: the optimal memory is $S* = Wv Wk^-1$ also for normalised keys, $k = Wk x / |Wk x|$.");
  c.is_refuted(
      outside("Eq 47: $S* = W_v W_k^{-1}$.", "$k = W_k x$, not normalised", "The text does not normalise the keys."));
  c.exactly("If $Wk x$ is isotropic, $S* = E|Wk x| Wv Wk^-1$. If $Wk x$ is standard Gaussian, $E|Wk x| = sqrt 2 "
            "Gamma((d+1)/2) / Gamma(d/2)$, which is 2.350 at $d = 6$. $S* k$ differs from $v$ by a residual, which "
            "keeps the memory moving.");
  c.because("The paper does not claim this. Normalising keeps the direction of the optimum. The lengths that "
            "normalising removes reappear as a factor of the optimum and as noise in the values.");
  c.runs({"delta_net"});
  c.takes({key_width_param(6, 2, 16), value_width_param(3, 1, 16), real_param("beta", 0.5, 0.1, 1.5, "step size"),
           steps_param(40, 2, 100)});
  c.at({{}, {{"T", 10}}});
  return measure(c, [](Points &points, const Protocol &protocol, int d, int dv, double beta, int T) {
    const DeltaPaths law{KeyLaw::unit, d, dv, beta, 0};
    const Dense S = random_target(d, dv, protocol.seed); // Wv Wk^-1
    // y = |y| k ~ N(0, I): |y| is independent of the direction k, so the second term of v = S y = E|y| S k + (|y| -
    // E|y|) S k is noise of mean 0.
    const double length = std::sqrt(2.0) * std::exp(std::lgamma((d + 1) / 2.0) - std::lgamma(d / 2.0)),
                 square = inner(S.data, S.data), inflow = beta * beta * (d - length * length) * square / d;
    Vector scales;
    const auto draw = [&](const Stretch &stretch) {
      Vector keys = random_keys(KeyLaw::gaussian, T, d, stretch), values = mapped(S, keys);
      normalise_rows(keys, d);
      const Output out = run_paths(runs_on(stretch, T, keys, values, beta));
      for (double x : projections(out, S)) scales.push_back(x / square);
      return squared_errors(out, length * S);
    };
    const Mean error = mean_over_runs(protocol.seed, "normalised keys", std::min(wanted_sensitivity(protocol), 0.2 / d),
                                      T, d + dv, draw, true);
    const double reached = 1 - std::pow(1 - beta / d, T), kept = std::pow(law.factor(), T),
                 left = kept * length * length * square, residual = inflow * (1 - kept) / (1 - law.factor());
    const Mean scale = mean_of(scales);
    points.statement("mean of $<S_T, Wv Wk^-1> / |Wv Wk^-1|^2$ against $1 - (1-beta/d)^T$", scale, reached);
    points
        .obligation("mean of $<S_T, Wv Wk^-1> / |Wv Wk^-1|^2$ against $E|Wk x| (1 - (1-beta/d)^T)$", scale,
                    length * reached)
        .but_not("$sqrt d$ in place of $E|Wk x|$", std::sqrt(d) * reached)
        .but_not("$sqrt(d-1)$ in place of $E|Wk x|$", std::sqrt(d - 1) * reached);
    points
        .obligation("mean of $|S_T - E|Wk x| Wv Wk^-1|^2$ against its law, which includes the residual", error,
                    left + residual)
        .but_not("the law without the residual", left);
  });
}

/// A head with E[k k^T] = I. v = Wv x = S* k + e, where S* is the optimum of Eq 46; `residual` is the trace of the
/// covariance of e.
struct Head {
  Layer layer;
  Dense optimum;
  double residual;
};
Head random_head(int D, int m, int dv, std::uint64_t seed) {
  Layer l = random_layer(D, m, dv, seed);
  l.Wk = inverse(cholesky(l.Wk * l.moment * transpose(l.Wk))) * l.Wk;
  const Dense optimum = optimum_eq46(l);
  return {l, optimum, trace(l.Wv * l.moment * transpose(l.Wv) - optimum * transpose(optimum))};
}

Claim many_heads() {
  ClaimBuilder c("multihead-deltanet", "000 §2.2.2, multi-head DeltaNet, Eq 46-48");
  c.says("With the low-rank projections of multi-head attention the memory may not be fixed, which may alleviate the "
         "degeneration of in-context learning.");
  c.exactly("$E S_t$ tends to the $S*$ of Eq 46, not to that of Eq 48. For Gaussian $x$ with $E[k k^T] = I$ the state "
            "keeps moving about this $S*$: $E|S - S*|^2$ tends to $beta m$ tr $R / (2 - beta (m+2))$, where $R$ is the "
            "covariance of $v$ given $k$, and $m$ is the width of $k$.");
  c.because("The state keeps moving because $k$ does not fully determine $v$.");
  c.runs({"delta_net"});
  c.takes({integer_param("D", 8, 3, 24, "width of x"), integer_param("m", 3, 2, 16, "width of k"),
           integer_param("dv", 3, 1, 16, "width of v"), real_param("beta", 0.1, 0.02, 0.4, "step size"),
           steps_param(20, 5, 60)});
  c.at({{}, {{"beta", 0.2}, {"T", 12}}});
  return measure(c, [](Points &points, const Protocol &protocol, int D, int m, int dv, double beta, int T) {
    if (beta * T < 1) usage_error("T = " + number(T) + " is less than 1/beta: the memory is still near its start");
    if (m >= D) usage_error("m = " + number(m) + " is not low rank at D = " + number(D));
    if (beta * (m + 2) > 1.5)
      usage_error("beta = " + number(beta) + " is beyond 1.5/(m+2), near which the mean square explodes");
    const Head head = random_head(D, m, dv, protocol.seed);
    const Dense printed = optimum_eq48(head.layer), line = printed - head.optimum;
    const double start = inner(head.optimum.data, head.optimum.data), length = inner(line.data, line.data);
    Vector along, across;
    const auto errors = [&](const Head &h, double wanted, bool keep) {
      const Dense root = cholesky(h.layer.moment), keys = h.layer.Wk * root, values = h.layer.Wv * root;
      const auto draw = [&](const Stretch &stretch) {
        const Vector x = stretch.normals("inputs", size_t(T) * D);
        const Output out = run_paths(runs_on(stretch, T, mapped(keys, x), mapped(values, x), beta));
        if (keep) {
          for (double x_along : projections(out, head.optimum)) along.push_back(x_along / start);
          for (double x_across : projections(out, line)) across.push_back(x_across / length);
        }
        return squared_errors(out, h.optimum);
      };
      return mean_over_runs(protocol.seed, "many heads", wanted, T, D, draw, keep);
    };
    const DeltaPaths law{KeyLaw::gaussian, m, dv, beta, std::sqrt(head.residual / dv)};
    const double expected = law.square_after(T, start), stays = law.inflow() / (2 * beta - beta * beta * m),
                 fallen = std::pow(1 - 2 * beta + beta * beta * m, T);
    points
        .statement(
            "mean of $|S_T - S*|^2$, $S*$ of Eq 46, against its law, which tends to $beta m tr R / (2 - beta (m+2))$",
            errors(head, wanted_sensitivity(protocol), true), expected)
        .but_not("$m$ in place of $m + 2$", fallen * start + (1 - fallen) * stays)
        .but_not("the law without the residual", std::pow(law.factor(), T) * start);
    Head exact = head; // v = S* k
    exact.layer.Wv = head.optimum * head.layer.Wk;
    points.wrong_system("values that $k$ fully determines", errors(exact, rough, false), expected);
    const double reached = 1 - std::pow(1 - beta, T);
    points.statement("mean of $<S_T, S*> / |S*|^2$ against $1 - (1-beta)^T$", mean_of(along), reached)
        .but_not("the rate of unit keys, $beta/m$", 1 - std::pow(1 - beta / m, T));
    const auto on_line = [&](const Dense &S) { return inner(S.data, line.data) / length * reached; };
    points
        .obligation(
            "position of the mean $S_T$ on the line from the $S*$ of Eq 46 to the $S*$ of Eq 48, against the former",
            mean_of(across), on_line(head.optimum))
        .but_not("the $S*$ of Eq 48", on_line(printed));
  });
}
} // namespace

std::vector<Claim> section_2_2_2_noise_and_heads() { return {noise_floor(), normalised_keys(), many_heads()}; }
} // namespace recollect::theory
