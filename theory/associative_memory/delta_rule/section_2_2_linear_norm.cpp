// SPDX-License-Identifier: Apache-2.0
// 000 §2.2 first bullet, §2.2.1 second bullet, footnote 14: the norm of a sum of outer products, without and with decay.
#include "theory/associative_memory/delta_rule/runs.hpp"
#include "theory/support/layer_points.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

Output run(const std::string &variant, const Sequence &s) { return forward(find_variant(variant), s); }

/// An upper bound on the runs of a point: 4e7 numbers drawn.
size_t most_runs(int T, int d, int dv) { return size_t(4e7) / (size_t(T) * (d + dv)); }

// ---- Growth in the mean --------------------------------------------------------------------------------------------------

/// |S k| after t writes of one unit key whose value, of length 1, changes its sign at every step.
double turning(int t) {
  Sequence s;
  s.shape = {1, 1, t, 1, 1};
  s.q = s.k = Vector(size_t(t), 1.0);
  for (int i = 0; i < t; ++i) s.v.push_back(i % 2 ? -1 : 1);
  return std::fabs(run("linear", s).o.back());
}

Claim growth() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : points_of(protocol, {labels({{"t", num(16)}, {"d", num(8)}, {"dv", num(4)}})})) {
      const int t = at.integer("t"), d = at.integer("d"), dv = at.integer("dv");
      const double pairs = d * dv;
      const auto over_runs = [&](const std::string &stream, double wanted, const auto &draw) {
        return mean_over_runs(protocol.seed, stream, wanted, block_of(t, d + dv), most_runs(t, d, dv), draw);
      };
      const double wanted = wanted_sensitivity(protocol);
      const auto states_of = [&](const std::string &variant, const Stretch &stretch) {
        Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
        s.alpha.assign(stretch.runs * t, 0.5); // of the decayed memory
        return run(variant, s);
      };
      const auto square_of = [&](const std::string &variant, double wanted) {
        return over_runs("linear norm", wanted, [&](const Stretch &stretch) {
          Vector squares = state_squares(states_of(variant, stretch));
          for (double &x : squares) x /= t;
          return squares;
        });
      };
      const auto spectral_of = [&](const std::string &variant) {
        const size_t runs = protocol.full() ? 8000 : 500;
        return mean_of(each_state(states_of(variant, {protocol.seed, "spectral norm", 0, runs}), [=](const double *S) {
          return std::pow(spectral_norm(Dense(dv, d, Vector(S, S + d * dv))), 2) / t;
        }));
      };
      // Every step's read at an independent key.
      const Mean read = over_runs("linear reads", wanted, [&](const Stretch &stretch) {
        Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
        s.q = stretch.normals("queries", size_t(t) * d);
        const Vector o = run("linear", s).o;
        Vector reads(stretch.runs, 0.0);
        for (size_t row = 0; row < o.size() / dv; ++row)
          reads[row / t] += inner(&o[row * dv], &o[row * dv], dv) / (row % t + 1) / t;
        return reads;
      });
      const Dense M = normal_matrix(dv, d, protocol.seed, "linear norm/map"); // v = M k + e
      const double map = inner(M.data, M.data);
      const Mean related = over_runs("related pairs", wanted, [&](const Stretch &stretch) {
        Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
        const Vector signal = mapped(M, s.k);
        for (size_t i = 0; i < s.v.size(); ++i) s.v[i] += signal[i];
        Vector squares = state_squares(run("linear", s));
        for (double &x : squares) x /= double(t) * t;
        return squares;
      });
      const Point squared = sampled_point(square_of("linear", wanted), pairs),
                  following = sampled_point(related, map * (1 + (d + 1.0) / t) + pairs / t);
      append(
          points,
          {as_statement(at_least_point(turning(2 * t), 1, 0), at, "|S k| of a value that turns its sign: at least |v|"),
           as_condition(squared, at, "mean of |S_t|_F^2 / t against d dv"),
           rival_system(sampled_point(square_of("gated_linear", rough), pairs), at, "a decay of 0.5"),
           rival_law(squared, "(d-1) dv", (d - 1) * dv),
           rival_law(squared, "growth by t: |S_t|^2 = t^2 d dv", t * pairs),
           as_condition(sampled_point(read, pairs), at,
                        "mean of |S_t k|^2 / t for a new key, over all steps, against d dv"),
           as_obligation(at_least_point(spectral_of("linear"), std::max(d, dv)), at,
                         "mean of |S_t|_2^2 / t against its least, |S_t|_F^2 / min(d, dv)"),
           rival_system(at_least_point(spectral_of("gated_linear"), std::max(d, dv)), at, "a decay of 0.5"),
           as_condition(following, at, "v = M k + e: mean of |S_t|_F^2 / t^2 against |M|^2 (1 + (d+1)/t) + d dv / t"),
           rival_law(following, "growth by sqrt t: d dv / t", pairs / t)});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(
              under(
                  "the pairs are independent and of zero mean, and the norm is its mean",
                  ledger_row("linear-norm-growth", "000 §2.2 first bullet, footnote 14",
                             "The objective of linear attention without decay is unbounded; as $t$ increases, the norm "
                             "of $S$ $k$ explodes.",
                             "In the mean, for independent zero-mean pairs: $E|S_t|_F^2 = E|S_t k|^2 = t d dv$ for "
                             "Gaussian keys and values, $|S_t|_2$ about $sqrt t (sqrt d + sqrt dv)$. Where the values "
                             "depend on the keys $|S_t|$ grows as $t |E v k^T|$.",
                             measure)),
              "True in the mean over random pairs. The norm need not grow at each step, nor for each sequence "
              "(linear_norm_inevitable)."),
          {integer_param("t", 16, 4, 256, "steps"), integer_param("d", 8, 2, 32, "key width"),
           integer_param("dv", 4, 2, 32, "value width")}),
      {"linear", "gated_linear"});
}

// ---- Not inevitable ------------------------------------------------------------------------------------------------------

/// Reads at one key k, t = 1 ... T, of writes of +v or -v at it, over |k|: every S_t is a multiple of v k^T, whose norm they
/// are. `negative(t)` says which writes are -v.
double largest_norm(const std::string &variant, const Vector &k, const Vector &v, int T,
                    const std::function<bool(int)> &negative) {
  Sequence s;
  s.shape = {1, 1, T, int(k.size()), int(v.size())};
  for (int t = 0; t < T; ++t) {
    s.k.insert(s.k.end(), k.begin(), k.end());
    for (double x : v) s.v.push_back(negative(t) ? -x : x);
  }
  s.q = s.k;
  const Variant &layer = find_variant(variant);
  const Vector o = forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"scale", "1"}})}).o;
  double largest = 0;
  for (int t = 0; t < T; ++t)
    largest = std::max(largest, std::sqrt(inner(&o[t * v.size()], &o[t * v.size()], int(v.size()))));
  return largest / std::sqrt(variant == "linear" ? inner(k, k) : std::exp(inner(k, k)));
}

Claim inevitable() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : points_of(protocol, {labels({{"T", num(1000)}})})) {
      const int T = at.integer("T");
      Vector k = Stream(protocol.seed, "bounded sum/key").normals(5),
             v = Stream(protocol.seed, "bounded sum/value").normals(3);
      normalise_rows(k, 5);
      for (double &x : k) x *= 1.5;
      const double once = std::sqrt(inner(k, k) * inner(v, v)),
                   featured = std::sqrt(std::exp(inner(k, k)) * inner(v, v)), units = 64.0 * T * featured,
                   wrong_growth = 2 * once;
      const auto alternate = [](int t) { return t % 2 == 1; };
      const int pairs = T / 4; // after which S = 0 and one sign comes twice in a row
      const auto turned = [pairs](int t) { return t % 2 == (t > 2 * pairs ? 0 : 1); };
      const auto held = [&](const std::string &variant, const auto &signs, double size) {
        return exact_point(largest_norm(variant, k, v, T, signs), size, units);
      };
      append(points, {as_statement(at_least_point(largest_norm("linear", k, v, T, alternate), wrong_growth, 0), at,
                                   "largest |S_t| over all steps: growth must pass 2 |v||k|"),
                      as_obligation(held("linear", alternate, once), at, "largest |S_t| over all steps against |v||k|"),
                      rival_system(held(
                                       "linear", [](int) { return false; }, once),
                                   at, "one sign at every step"),
                      rival_system(held("linear", turned, once), at, "one sign twice in a row"),
                      as_obligation(held("exp_unnormalized", alternate, featured), at,
                                    "the same with the exp kernel against |v||phi(k)|")});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(refuted_row("linear-norm-inevitable",
                                stricter("§2.2.1, second bullet: 'It can be mathematically proved that memory models "
                                         "of the form $S_t = S_{t-1} + v_i k_i^T$ inevitably experience growth in the "
                                         "spectral norm of $S$ over time, resulting in numerical instability'.",
                                         "a stream of pairs, of which no law is stated",
                                         "The paragraph goes on about typical contexts; values that cancel at one key "
                                         "are not what it speaks of."),
                                "000 §2.2.1 second bullet",
                                "It can be proved that every memory $S_t = S_{t-1} + v_t k_t^T$, with a kernel "
                                "or without, inevitably grows in spectral norm over time.",
                                "With $v_t = (-1)^t v$ at one key the norm never passes $|v||k|$. The statement "
                                "needs a law of the pairs (linear_norm_growth).",
                                measure),
                    "Independent zero-mean pairs do make it grow in the mean, and that is what the text has "
                    "in mind. No proof can do without an assumption on the pairs."),
          {integer_param("T", 1000, 4, 10000, "steps")}),
      {"linear", "exp_unnormalized"});
}

// ---- With decay ----------------------------------------------------------------------------------------------------------

Claim decay_bounds_and_forgets() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const auto place = [](double lambda, int t) {
      return labels({{"lambda", num(lambda)}, {"t", num(t)}, {"d", num(8)}, {"dv", num(4)}});
    };
    for (const Params &at : points_of(protocol, {place(0.9, 3), place(0.9, 10), place(0.9, 40)})) {
      const int t = at.integer("t"), d = at.integer("d"), dv = at.integer("dv");
      const double lambda = at.real("lambda"), pairs = d * dv;
      const auto square_of = [&](const std::string &variant, double wanted) {
        return mean_over_runs(protocol.seed, "decayed norm", wanted, block_of(t, d + dv), most_runs(t, d, dv),
                              [&](const Stretch &stretch) {
                                Sequence s = random_runs(KeyLaw::gaussian, t, d, dv, stretch);
                                s.alpha.assign(stretch.runs * t, lambda);
                                return state_squares(run(variant, s));
                              });
      };
      const double bounded = pairs * (1 - std::pow(lambda, 2 * t)) / (1 - lambda * lambda);
      const Point square = sampled_point(square_of("gated_linear", wanted_sensitivity(protocol)), bounded);
      // What is left of the first write: the read of all minus that of all others, at its key.
      Sequence all = random_runs(KeyLaw::gaussian, t, d, dv, {protocol.seed, "forgotten item", 0, 1}), others = all;
      std::copy_n(all.k.begin(), d, all.q.end() - d);
      all.alpha.assign(t, lambda);
      others.q = all.q, others.alpha = all.alpha;
      std::fill_n(others.v.begin(), dv, 0.0);
      const Vector read = run("gated_linear", all).o, without = run("gated_linear", others).o;
      Vector left, kept;
      for (int c = 0; c < dv; ++c) {
        const double written = all.v[c] * inner(all.k.data(), all.k.data(), d);
        left.push_back(read[(t - 1) * dv + c] - without[(t - 1) * dv + c]);
        kept.push_back(std::pow(lambda, t - 1) * written);
      }
      const double units = rounding_units("gated_linear", all) + rounding_units("gated_linear", others);
      append(points,
             {as_statement(square, at, "mean of |S_t|_F^2 against d dv (1 - lambda^(2t)) / (1 - lambda^2)"),
              rival_system(sampled_point(square_of("linear", rough), bounded), at, "no decay"),
              rival_law(square, "d dv / (1 - lambda)", pairs / (1 - lambda)),
              as_statement(exact_point(left, kept, units), at, "what is left of the first write against lambda^(t-1)"),
              rival_law(left, at, "lambda^(t-2)", (1 / lambda * Dense(1, dv, kept)).data, units)});
      const double shorter = pairs * (1 - std::pow(lambda, 2 * t - 1)) / (1 - lambda * lambda);
      if (shorter < 0.9 * bounded) points.push_back(rival_law(square, "2 t - 1 for 2 t", shorter));
      if (std::pow(lambda, t) > 0.2) // by then the two laws differ by more than a sampled point detects
        points.push_back(
            rival_law(square, "lambda^t for lambda^(2t)", pairs * (1 - std::pow(lambda, t)) / (1 - lambda * lambda)));
    }
    return points;
  };
  return running(
      at_parameters(
          ledger_row("gla-bounded-forgets", "000 §2.2 first bullet",
                     "The memory decay of gated linear attention mitigates the exploding norm, at the "
                     "expense of forgetting.",
                     "For a constant scalar $lambda < 1$ and independent standard Gaussian pairs $E|S_t|_F^2 = d "
                     "dv (1 - lambda^(2t)) / (1 - lambda^2)$; an item of age $m$ keeps $lambda^m$.",
                     measure),
          {real_param("lambda", 0.9, 0.3, 0.97, "decay"), integer_param("t", 10, 2, 128, "steps"),
           integer_param("d", 8, 2, 32, "key width"), integer_param("dv", 4, 2, 32, "value width")}),
      {"gated_linear", "linear"});
}

} // namespace

std::vector<Claim> section_2_2_linear_norm() { return {growth(), inevitable(), decay_bounds_and_forgets()}; }

} // namespace recollect::theory
