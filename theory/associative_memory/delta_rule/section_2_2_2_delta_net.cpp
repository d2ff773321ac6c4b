// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2, single-head DeltaNet on isotropic unit keys: does the memory stay at the optimum S*, does it converge to
// S*, and do its reads then depend on the current input alone? The laws are in delta_paths.hpp. Other cases:
// section_2_2_2_gaussian_keys.cpp has Gaussian keys, section_2_2_2_noise_and_heads.cpp noise, normalised keys and many
// heads.
#include "theory/associative_memory/delta_rule/delta_paths.hpp"
#include "theory/associative_memory/objectives/optimal_memory.hpp"

namespace recollect::theory {
namespace {
/// One step from `start` for each row x of `inputs`: k = Wk x, v = Wv x. The query is the key of the row before.
Output one_step_each(const Layer &layer, const Dense &start, const Dense &inputs, double beta) {
  const int m = layer.Wk.rows;
  const size_t runs = inputs.rows;
  Sequence s =
      runs_on({0, "", 0, runs}, 1, (inputs * transpose(layer.Wk)).data, (inputs * transpose(layer.Wv)).data, beta);
  std::rotate(s.q.begin(), s.q.end() - m, s.q.end());
  s.state = repeated(start.data, runs);
  return run_paths(s);
}

Claim fixed_point() {
  ClaimBuilder c("deltanet-fixed-point", "000 §2.2.2, Eq 44-47");
  c.says("Let $k = Wk x$ and $v = Wv x$ with an invertible $Wk$. Once DeltaNet's memory is at $S* = Wv Wk^-1$, it is "
         "no longer updated: no new information is written, and the read depends on the fixed $S*$ alone.");
  c.exactly(
      "Since $v = S* k$ for every $x$, the error at $S*$ is zero and $S*$ stays unchanged, whatever the step size.");
  c.runs({"delta_net"});
  c.takes({integer_param("D", 8, 2, 32, "width of x and k"), integer_param("dv", 4, 1, 32, "width of v"),
           real_param("beta", 1, 0.01, 2, "step size")});
  c.at({{}, {{"beta", 0.3}}});
  return measure(c, [](Points &points, Seed seed, int D, int dv, double beta) {
    const int n = 100;
    const Layer layer = random_layer(D, D, dv, seed), narrow = random_layer(D, (D + 1) / 2, dv, seed);
    const Dense inputs = normal_matrix(n, D, seed, "fixed point/inputs") * transpose(cholesky(layer.moment)),
                optimum = layer.Wv * inverse(layer.Wk), best = optimum_eq46(narrow);
    // A step multiplies the residual, of size |S*||k| + |v|, by the key. The relative error of S* is rounding times
    // cond(Wk).
    const double k = frobenius_norm(layer.Wk) * max_abs(inputs.data) * D;
    points.rounding(64.0 * D * (1 + beta * k * k) * frobenius_norm(optimum) * spectral_norm(layer.Wk) *
                    spectral_norm(inverse(layer.Wk)));
    const auto after = [&](const Layer &of, const Dense &start) { return one_step_each(of, start, inputs, beta); };
    const auto each = [](const Dense &state) { return repeated(state.data, n); };
    points.statement("S after one step from $S*$, for each of 100 inputs, against $S*$", after(layer, optimum).state,
                     each(optimum));
    points.wrong_system("one step from $1.01 S*$", after(layer, 1.01 * optimum).state, each(1.01 * optimum));
    points.wrong_system("low-rank projections: one step from the $S*$ of Eq 46", after(narrow, best).state, each(best));
    Dense reads(n, D); // the inputs whose keys were the queries
    for (int i = 0; i < n; ++i) std::copy_n(&inputs.data[size_t((i + n - 1) % n) * D], D, &reads.data[size_t(i) * D]);
    points.obligation("reads at the key $Wk x$ of another input $x$, against its value $Wv x$", after(layer, optimum).o,
                      (reads * transpose(layer.Wv)).data);
  });
}

/// Refuses T > d^2: the fourth moment of the error is then too large for sampling, because a few runs dominate the
/// mean.
void check_steps(int T, int d) {
  if (T > d * d)
    usage_error("T = " + number(T) + " at d = " + number(d) +
                ": beyond T = d^2 a few rare runs dominate the mean square");
}

ParamSpec key_width(int least) { return key_width_param(8, least, 32); }
const ParamSpec value_width = value_width_param(4, 1, 32);

Claim converges() {
  ClaimBuilder c("deltanet-converges-unit", "000 §2.2.2; 002 §4");
  c.says("Ideally DeltaNet's $S$ converges to $S* = Wv Wk^-1$ as memory updates progress.");
  c.exactly("For isotropic unit keys and $v = S* k$, $E|S_t - S*|^2$ is multiplied by $1 - beta (2 - beta)/d$ at each "
            "step. So the mean square converges to 0 for $0 < beta < 2$ and for no other $beta$.");
  c.because("We take 'ideally' to mean independent isotropic keys of norm 1, and values that $S*$ reproduces. The "
            "claims deltanet_converges_gaussian and deltanet_noise_floor show what happens without these conditions.");
  c.runs({"delta_net"});
  c.takes({real_param("beta", 0.5, 0.2, 1.8, "step size"), steps_param(16, 2, 100), key_width(2), value_width});
  c.at({{}, {{"beta", 1}, {"T", 8}}, {{"beta", 1.5}}});
  return measure(c, [](Points &points, const Protocol &protocol, double beta, int T, int d, int dv) {
    check_steps(T, d);
    const DeltaPaths law{KeyLaw::unit, d, dv, beta, 0}, gaussian{KeyLaw::gaussian, d, dv, beta, 0},
        reflection{KeyLaw::unit, d, dv, 2, 0}, overshoot{KeyLaw::unit, d, dv, 2.5, 0};
    const Dense target = random_target(d, dv, protocol.seed);
    const double start = inner(target.data, target.data), wanted = wanted_sensitivity(protocol);
    const auto with_factor = [&](double factor, int steps) { return start * std::pow(factor, steps); };
    const auto error = [&](const DeltaPaths &paths, int steps, double sensitivity) {
      return mean_error(paths, steps, target, protocol.seed, sensitivity);
    };
    points
        .statement("mean of $|S_T - S*|^2$ against $(1 - beta (2 - beta)/d)^T |S*|^2$", error(law, T, wanted),
                   law.square_after(T, start))
        .but_not("$d - 1$ in place of $d$", with_factor(1 - beta * (2 - beta) / (d - 1), T))
        .but_not("$1 - 2 beta/d$, without the term in $beta^2$", with_factor(1 - 2 * beta / d, T))
        .but_not("$T - 1$ in place of $T$", with_factor(law.factor(), T - 1));
    points.wrong_system("Gaussian keys, one step", error(gaussian, 1, rough), law.square_after(1, start));
    const Vector kept =
        squared_errors(run_paths(draw_paths(reflection, T, target, {protocol.seed, "reflections", 0, 50})), target);
    points.rounding(8.0 * T * (d + dv) * start);
    points.obligation("$beta = 2$: $|S_T - S*|^2$ of every run against $|S*|^2$", kept, Vector(kept.size(), start));
    points.obligation("$beta = 2.5$: mean of $|S_4 - S*|^2$ against $(1 - beta (2 - beta)/d)^4 |S*|^2$, which is "
                      "larger than $|S*|^2$",
                      error(overshoot, 4, wanted), overshoot.square_after(4, start));
  });
}

Claim bigram() {
  ClaimBuilder c("bigram-degeneration", "000 §2.2.2");
  c.says("If $S*$ is viewed as part of the weights, single-head DeltaNet degenerates into a bi-gram model: the output "
         "depends on the current input alone.");
  c.exactly("Under the conditions of deltanet_converges_unit and with step size 1, let two different histories of $t$ "
            "steps end with the same query. The mean square of the difference of their two reads is $2 ((1-1/d)^t - "
            "(1-1/d)^(2t)) |S*|^2 / d$.");
  c.because("The word 'degenerates' is right in the limit of long histories. The memory forgets its history at the "
            "rate at which $S$ converges.");
  c.runs({"delta_net", "linear"}), c.takes({steps_param(16, 2, 60), key_width(3), value_width});
  c.at({{}, {{"T", 4}, {"d", 4}}});
  return measure(c, [](Points &points, const Protocol &protocol, int T, int d, int dv) {
    check_steps(T, d);
    const DeltaPaths law{KeyLaw::unit, d, dv, 1, 0};
    const size_t size = size_t(d) * dv;
    const Dense target = random_target(d, dv, protocol.seed);
    // Two runs with different keys that start from S* and end with the same query.
    Sequence settled = draw_paths(law, T, target, {protocol.seed, "settled histories", 0, 2});
    settled.state = repeated(target.data, 2);
    const Vector q = random_keys(KeyLaw::unit, 1, d, {protocol.seed, "settled query", 0, 1});
    for (int history : {1, 2}) std::copy_n(q.begin(), d, &settled.q[size_t(history * T - 1) * d]);
    Sequence unsettled = settled;
    unsettled.state.clear();
    const auto last_reads = [&](const Sequence &s) { return steps_of(run_paths(s).o, s.shape, T - 1, T); };
    const Vector both = repeated(times(target, q), 2);
    points.rounding(64.0 * T * (d + dv) * (1 + frobenius_norm(target)));
    points.statement("two histories from $S*$: the read at $q$ after each of them, against $S* q$", last_reads(settled),
                     both);
    points.wrong_system("two histories from $S_0 = 0$", last_reads(unsettled), both);
    const double scale = 2 * inner(target.data, target.data) / d;
    const auto gap = [&](double width, double steps) { // E|o - o'|^2 = 2 (f^T - m^(2T)) |S*|^2 / d
      return scale * (std::pow(1 - 1 / width, steps) - std::pow(1 - 1 / width, 2 * steps));
    };
    // At a random unit query the squared distance of the reads of S and S' is on average |S - S'|_F^2 / d.
    const auto parted = [&](const std::string &layer, double wanted) {
      const auto draw = [&](Stretch stretch) {
        stretch.first *= 2, stretch.runs *= 2;
        const Vector S = run(layer, draw_paths(law, T, target, stretch)).state;
        Vector squares(S.size() / (2 * size), 0.0);
        for (size_t pair = 0; pair < squares.size(); ++pair)
          for (const double *s = &S[2 * size * pair], *e = s; e < s + size; ++e)
            squares[pair] += std::pow(*e - e[size], 2) / d;
        return squares;
      };
      return mean_over_runs(protocol.seed, "two histories", wanted, 2 * T, d, draw);
    };
    points
        .statement(
            "two histories from $S_0 = 0$: mean of $|o - o'|^2$, $o$ and $o'$ being their reads at one unit query",
            parted("delta_net", wanted_sensitivity(protocol)), gap(d, T))
        .but_not("$d - 1$ in place of $d$", gap(d - 1.0, T))
        .but_not("$T - 1$ in place of $T$", gap(d, T - 1))
        .but_not("$T/2$ in place of $T$", gap(d, T / 2.0));
    points.wrong_system("linear attention", parted("linear", rough), gap(d, T));
  });
}
} // namespace

std::vector<Claim> section_2_2_2_delta_net() { return {fixed_point(), converges(), bigram()}; }
} // namespace recollect::theory
