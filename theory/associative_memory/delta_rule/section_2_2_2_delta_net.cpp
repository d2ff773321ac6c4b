// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2, single-head DeltaNet: it stays at S*, gets there, and then reads by the current input alone; isotropic unit
// keys (laws in delta_paths.hpp). Gaussian keys: section_2_2_2_gaussian_keys.cpp. Noise, normalised keys, many heads:
// section_2_2_2_noise_and_heads.cpp.
#include "harness/core/error.hpp"
#include "theory/associative_memory/delta_rule/delta_paths.hpp"
#include "theory/associative_memory/objectives/optimal_memory.hpp"

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

Vector repeated(const Vector &block, size_t times) {
  Vector all;
  for (size_t i = 0; i < times; ++i) all.insert(all.end(), block.begin(), block.end());
  return all;
}

// ---- It stays there ------------------------------------------------------------------------------------------------------

/// One step from `start` on each of `inputs` (rows x): k = Wk x, v = Wv x; reads are at the key of the input before.
Output one_step_each(const Layer &layer, const Dense &start, const Dense &inputs, double beta) {
  const int m = layer.Wk.rows;
  Sequence s;
  s.shape = {inputs.rows, 1, 1, m, layer.Wv.rows};
  s.k = (inputs * transpose(layer.Wk)).data, s.v = (inputs * transpose(layer.Wv)).data;
  s.q = s.k;
  std::rotate(s.q.begin(), s.q.end() - m, s.q.end());
  s.beta.assign(inputs.rows, beta);
  s.state = repeated(start.data, inputs.rows);
  return run_paths(s);
}

Claim fixed_point() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const auto place = [](double beta) { return labels({{"D", num(8)}, {"dv", num(4)}, {"beta", num(beta)}}); };
    for (const Params &at : points_of(protocol, {place(1), place(0.3)})) {
      const int D = at.integer("D"), dv = at.integer("dv"), n = 100;
      const double beta = at.real("beta");
      const Layer layer = random_layer(D, D, dv, protocol.seed),
                  narrow = random_layer(D, (D + 1) / 2, dv, protocol.seed);
      const Dense inputs = normal_matrix(n, D, protocol.seed, "fixed point/inputs") * transpose(cholesky(layer.moment)),
                  optimum = layer.Wv * inverse(layer.Wk), best = optimum_eq46(narrow);
      const Output out = one_step_each(layer, optimum, inputs, beta);
      Dense reads(n, D); // the inputs whose keys were the queries
      for (int i = 0; i < n; ++i) std::copy_n(&inputs.data[size_t((i + n - 1) % n) * D], D, &reads.data[size_t(i) * D]);
      // A residual of two terms of size |S*||k| + |v|, times the key; S* itself to the condition of Wk.
      const double k = frobenius_norm(layer.Wk) * max_abs(inputs.data) * D,
                   units = 64.0 * D * (1 + beta * k * k) * frobenius_norm(optimum) * spectral_norm(layer.Wk) *
                           spectral_norm(inverse(layer.Wk));
      const auto stays = [&](const Layer &l, const Dense &start, const Dense &expected) {
        return exact_point(one_step_each(l, start, inputs, beta).state, repeated(expected.data, n), units);
      };
      append(points, {as_statement(stays(layer, optimum, optimum), at, "S after a step from S* on each of 100 inputs"),
                      rival_system(stays(layer, 1.01 * optimum, 1.01 * optimum), at, "from 1.01 S*"),
                      rival_system(stays(narrow, best, best), at, "low rank: from the S* of Eq 46"),
                      as_obligation(exact_point(out.o, (reads * transpose(layer.Wv)).data, units), at,
                                    "reads at other inputs' keys Wk x against Wv x, the input's own value")});
    }
    return points;
  };
  return running(
      at_parameters(
          ledger_row(
              "deltanet-fixed-point", "000 §2.2.2, Eq 44-47",
              "With $k = Wk x$, $v = Wv x$ and Wk invertible, DeltaNet's memory is no longer updated at $S*$: no new "
              "information is written, and the read depends on the fixed $S*$ alone.",
              "$v = S* k$ for every $x$, so that $S*$ stays under every step size.", measure),
          {integer_param("D", 8, 2, 32, "width of x and k"), integer_param("dv", 4, 1, 32, "width of v"),
           real_param("beta", 1, 0.01, 2, "step size")}),
      {"delta_net"});
}

// ---- It gets there -------------------------------------------------------------------------------------------------------

/// Beyond d^2 steps the fourth moment of the error has grown past sampling: a few runs make the mean.
void check_steps(int T, int d) {
  if (T > d * d)
    usage_error("T = " + number(T) + " at d = " + number(d) + ": the mean square rests on rare runs beyond T = d^2");
}

Params paths_at(double beta, int T) {
  return labels({{"beta", num(beta)}, {"T", num(T)}, {"d", num(8)}, {"dv", num(4)}});
}
const ParamSpec key_width = integer_param("d", 8, 2, 32, "key width"),
                value_width = integer_param("dv", 4, 1, 32, "value width");

Claim converges() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : points_of(protocol, {paths_at(0.5, 16), paths_at(1, 8), paths_at(1.5, 16)})) {
      const int T = at.integer("T");
      check_steps(T, at.integer("d"));
      const DeltaPaths law{KeyLaw::unit, at.integer("d"), at.integer("dv"), at.real("beta"), 0};
      const Dense target = random_target(law.d, law.dv, protocol.seed);
      const double start = inner(target.data, target.data), expected = law.square_after(T, start);
      const auto with_factor = [&](double factor, int steps) { return start * std::pow(factor, steps); };
      const Point error =
          sampled_point(mean_error(law, T, target, protocol.seed, wanted_sensitivity(protocol)), expected);
      const Mean gaussian = mean_error({KeyLaw::gaussian, law.d, law.dv, law.beta, 0}, 1, target, protocol.seed, rough);
      DeltaPaths reflection = law, overshoot = law;
      reflection.beta = 2, overshoot.beta = 2.5;
      const Vector kept =
          squared_errors(run_paths(draw_paths(reflection, T, target, {protocol.seed, "reflections", 0, 50})), target);
      const double grown = overshoot.square_after(4, start);
      append(points,
             {as_statement(error, at, "mean of |S_T - S*|^2 against (1 - beta (2 - beta)/d)^T |S*|^2"),
              rival_system(sampled_point(gaussian, law.square_after(1, start)), at, "Gaussian keys, one step"),
              rival_law(error, "d - 1 for d", with_factor(1 - law.beta * (2 - law.beta) / (law.d - 1), T)),
              rival_law(error, "no beta^2", with_factor(1 - 2 * law.beta / law.d, T)),
              rival_law(error, "T - 1", with_factor(law.factor(), T - 1)),
              as_obligation(exact_point(kept, Vector(kept.size(), start), 8.0 * T * (law.d + law.dv) * start), at,
                            "beta = 2: |S_T - S*|^2 of every run against |S*|^2"),
              as_obligation(
                  sampled_point(mean_error(overshoot, 4, target, protocol.seed, wanted_sensitivity(protocol)), grown),
                  at, "beta = 2.5, 4 steps: mean of |S - S*|^2 against its growing law")});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(
              ledger_row("deltanet-converges-unit", "000 §2.2.2; 002 §4",
                         "Ideally DeltaNet's $S$ converges to $S* = Wv Wk^-1$ as memory updates progress.",
                         "For isotropic unit keys and $v = S* k$, $E|S_t - S*|^2$ falls by $1 - beta (2 - beta)/d$ a "
                         "step: for $0 < beta < 2$ and for no other $beta$.",
                         measure),
              "The ideal is taken as keys of norm 1, isotropic and independent, and values that $S*$ reproduces. "
              "Without it: deltanet_converges_gaussian, deltanet_noise_floor."),
          {real_param("beta", 0.5, 0.2, 1.8, "step size"), integer_param("T", 16, 2, 100, "steps"), key_width,
           value_width}),
      {"delta_net"});
}

// ---- What it then reads --------------------------------------------------------------------------------------------------

Claim bigram() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const auto place = [](int T, int d) { return labels({{"T", num(T)}, {"d", num(d)}, {"dv", num(4)}}); };
    for (const Params &at : points_of(protocol, {place(16, 8), place(4, 4)})) {
      const int T = at.integer("T");
      check_steps(T, at.integer("d"));
      const DeltaPaths law{KeyLaw::unit, at.integer("d"), at.integer("dv"), 1, 0};
      const size_t size = size_t(law.d) * law.dv;
      const Dense target = random_target(law.d, law.dv, protocol.seed);
      const double scale = 2 * inner(target.data, target.data) / law.d;
      const auto gap = [&](double d, double steps) { // E|o - o'|^2 = 2 (f^T - m^(2T)) |S*|^2 / d
        return scale * (std::pow(1 - 1 / d, steps) - std::pow(1 - 1 / d, 2 * steps));
      };
      // The reads of two histories at a random unit query part by |S - S'|_F^2 / d in the mean over the query.
      const auto parted = [&](const std::string &layer, double wanted) {
        return mean_over_runs(protocol.seed, "two histories", wanted, block_of(2 * T, law.d),
                              size_t(5e7) / (size_t(T) * law.d), [&](Stretch stretch) {
                                stretch.first *= 2, stretch.runs *= 2;
                                const Sequence s = draw_paths(law, T, target, stretch);
                                const Vector S = forward(find_variant(layer), s).state;
                                Vector squares;
                                for (size_t pair = 0; pair < S.size(); pair += 2 * size) {
                                  double square = 0;
                                  for (size_t e = 0; e < size; ++e)
                                    square += std::pow(S[pair + e] - S[pair + size + e], 2) / law.d;
                                  squares.push_back(square);
                                }
                                return squares;
                              });
      };
      const Point apart = sampled_point(parted("delta_net", wanted_sensitivity(protocol)), gap(law.d, T));
      // Two histories from S* on, one last query.
      Sequence settled = draw_paths(law, T, target, {protocol.seed, "settled histories", 0, 2});
      settled.state = repeated(target.data, 2);
      const Vector q = random_keys(KeyLaw::unit, 1, law.d, {protocol.seed, "settled query", 0, 1});
      std::copy_n(q.begin(), law.d, settled.q.end() - law.d);
      std::copy_n(q.begin(), law.d, &settled.q[size_t(T - 1) * law.d]);
      Sequence unsettled = settled;
      unsettled.state.clear();
      const auto last_reads = [&](const Sequence &s) {
        const Vector o = run_paths(s).o;
        Vector both(o.begin() + (T - 1) * law.dv, o.begin() + T * law.dv);
        both.insert(both.end(), o.end() - law.dv, o.end());
        return both;
      };
      const double units = 64.0 * T * (law.d + law.dv) * (1 + frobenius_norm(target));
      const Vector both = repeated(times(target, q), 2);
      append(points,
             {as_statement(exact_point(last_reads(settled), both, units), at,
                           "from S*: last reads of two histories against S* q"),
              rival_system(exact_point(last_reads(unsettled), both, units), at, "from S_0 = 0"),
              as_statement(apart, at, "from S_0 = 0: mean of |o - o'|^2 of two histories at one unit query"),
              rival_system(sampled_point(parted("linear", rough), gap(law.d, T)), at, "linear attention"),
              rival_law(apart, "d - 1 for d", gap(law.d - 1.0, T)), rival_law(apart, "T - 1", gap(law.d, T - 1)),
              rival_law(apart, "(1-1/d)^(T/2) for the square", gap(law.d, T / 2.0))});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(
              ledger_row("bigram-degeneration", "000 §2.2.2",
                         "If $S*$ is viewed as part of the weights, single-head DeltaNet degenerates into a bi-gram "
                         "model: the output depends on the current input alone.",
                         "Under the conditions of deltanet_converges_unit, step 1: the reads of two histories at "
                         "one query differ in mean square by $2 ((1-1/d)^t - (1-1/d)^(2t)) |S*|^2 / d$.",
                         measure),
              "The word is right for the limit; the histories are forgotten at the rate at which $S$ converges."),
          {integer_param("T", 16, 2, 60, "steps"), integer_param("d", 8, 3, 32, "key width"), value_width}),
      {"delta_net", "linear"});
}

} // namespace

std::vector<Claim> section_2_2_2_delta_net() { return {fixed_point(), converges(), bigram()}; }

} // namespace recollect::theory
