// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2 Summary: what keeps memory updates from stagnating. Mean squares of the last update S_T - S_{T-1} from S_0 = 0,
// against exact recursions.
#include "theory/associative_memory/delta_rule/delta_paths.hpp"

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

/// |S_T - S_{T-1}|^2 of every run: the last step is run from the state after the others.
Vector update_squares(const std::string &layer, const Sequence &s) {
  const Variant &variant = find_variant(layer);
  Sequence last = slice_steps(s, s.shape.T - 1, s.shape.T);
  last.state = forward(variant, slice_steps(s, 0, s.shape.T - 1)).state;
  Output after = forward(variant, last);
  for (size_t e = 0; e < last.state.size(); ++e) after.state[e] -= last.state[e];
  return state_squares(after);
}

/// The same point, 7 steps from the start.
Params shortened(Params at) { return at.set("T", 7); }

// ---- Decay ---------------------------------------------------------------------------------------------------------------

/// Gated linear attention on independent standard Gaussian pairs. The squares of the last write are taken out and their
/// mean d dv put back: they carry nearly all of the spread.
Mean decayed_update(double lambda, int T, int d, int dv, std::uint64_t seed, double wanted) {
  return mean_over_runs(seed, "decayed update", wanted, block_of(T, d + dv), size_t(5e7) / (T * (d + dv)),
                        [&](const Stretch &stretch) {
                          Sequence s = random_runs(KeyLaw::gaussian, T, d, dv, stretch);
                          s.alpha.assign(stretch.runs * T, lambda);
                          Vector squares = update_squares("gated_linear", s);
                          for (size_t run = 0; run < stretch.runs; ++run) {
                            const double *k = &s.k[((run + 1) * T - 1) * d], *v = &s.v[((run + 1) * T - 1) * dv];
                            squares[run] += d * dv - inner(k, k, d) * inner(v, v, dv);
                          }
                          return squares;
                        });
}

/// DeltaNet with decay alpha on isotropic unit keys, v = S* k, |S*|^2 = 1: exact second moments of S and of its update.
/// With S' = alpha S + beta R k k^T, R = S* - alpha S: E|A k|^2 = |A|^2 / d and E<S, A k k^T> = <S, A> / d.
double decayed_delta_update(double alpha, double beta, int d, int T) {
  double square = 0, overlap = 0, update = 0; // E|S|^2, E<S, S*>, E|S' - S|^2
  for (int t = 0; t < T; ++t) {
    const double rest = (1 - 2 * alpha * overlap + alpha * alpha * square) / d, // E|R k|^2
        with_S = (overlap - alpha * square) / d;                                // E<S, R k k^T>
    update = (1 - alpha) * (1 - alpha) * square - 2 * (1 - alpha) * beta * with_S + beta * beta * rest;
    square = alpha * alpha * square + 2 * alpha * beta * with_S + beta * beta * rest;
    overlap = alpha * overlap + beta * (1 - alpha * overlap) / d;
  }
  return update;
}
Mean delta_update(const std::string &layer, const Params &at, std::uint64_t seed, double wanted) {
  const int d = at.integer("d"), T = at.integer("T");
  const Dense target = random_target(d, d, seed);
  return mean_over_runs(seed, "decayed delta update", wanted, block_of(T, 2 * d), size_t(5e7) / (T * d),
                        [&](const Stretch &stretch) {
                          Sequence s = draw_paths({KeyLaw::unit, d, d, at.real("beta"), 0}, T, target, stretch);
                          s.alpha.assign(stretch.runs * T, at.real("alpha"));
                          Vector squares = update_squares(layer, s);
                          for (double &x : squares) x /= inner(target.data, target.data);
                          return squares;
                        });
}

Claim decay() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const Params own =
        labels({{"lambda", num(0.9)}, {"alpha", num(0.95)}, {"beta", num(0.8)}, {"d", num(5)}, {"T", num(14)}});
    for (const Params &at : points_of(protocol, {own})) {
      const double lambda = at.real("lambda"), alpha = at.real("alpha"), beta = at.real("beta"),
                   wanted = wanted_sensitivity(protocol);
      const int d = at.integer("d"), T = at.integer("T");
      // The stationary E|S|^2 = d^2 / (1 - lambda^2), times (1-lambda)^2, and the write's d^2. After 100 steps the start has
      // left 0.95^200 = 3e-5 of it at most.
      const double writes = d * d, shrinks = writes * (1 - lambda) / (1 + lambda);
      const Point gated = sampled_point(decayed_update(lambda, 100, d, d, protocol.seed, wanted / 4), writes + shrinks);
      // Without decay the fourth moment of the error outgrows the square of its mean: few steps there.
      const Params few = shortened(at);
      const double settled = decayed_delta_update(alpha, beta, d, T), f = 1 - beta * (2 - beta) / d,
                   falling = beta * beta / d * std::pow(f, few.integer("T") - 1);
      const Point delta = sampled_point(delta_update("gated_delta_net", at, protocol.seed, wanted), settled);
      append(points,
             {as_statement(gated, at, "gated linear: mean of |S_T - S_{T-1}|^2 against 2 d dv / (1 + lambda), dv = d"),
              rival_law(gated, "lambda -> 1: d dv", writes), rival_law(gated, "the write left out", shrinks),
              as_statement(delta, at, "gated DeltaNet: mean of |S_T - S_{T-1}|^2 / |S*|^2 against its recursion"),
              rival_system(sampled_point(delta_update("delta_net", at, protocol.seed, rough), settled), at, "no decay"),
              rival_law(delta, "falling, as without decay", beta * beta / d * std::pow(f, T - 1)),
              as_obligation(sampled_point(delta_update("delta_net", few, protocol.seed, wanted), falling), few,
                            "without decay: the same against beta^2/d (1 - beta (2-beta)/d)^(T-1)")});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(
              ledger_row("decay-prevents-stagnation", "000 §2.2.2 Summary",
                         "Memory decay can effectively prevent memory updates from stagnating.",
                         "Gated linear attention, $lambda < 1$, independent Gaussian pairs: $E|S_t - S_{t-1}|^2$ stays "
                         "at $2 d dv / (1 + lambda)$. DeltaNet with decay $alpha$ on isotropic unit keys, $v = S* k$, "
                         "settles at a positive mean square; without decay it falls by $1 - beta (2 - beta)/d$ a step.",
                         measure),
              "Decay keeps the memory away from $S*$: what it forgets must be written again."),
          {real_param("lambda", 0.9, 0.1, 0.95, "decay of gated linear attention"),
           real_param("alpha", 0.95, 0.5, 0.98, "decay of DeltaNet"),
           real_param("beta", 0.8, 0.3, 1.5, "step size of DeltaNet"),
           integer_param("d", 5, 4, 16, "key and value width"), integer_param("T", 14, 8, 40, "steps")}),
      {"gated_linear", "gated_delta_net", "delta_net"});
}

// ---- Short convolutions --------------------------------------------------------------------------------------------------

/// Inputs x_t uniform on the unit sphere, k_t = a x_t + b x_{t-1} with the keys' taps, v_t = S* times the same with the
/// values' taps; a tap b goes with a = sqrt(1 - b^2).
Mean convolved_update(double key_tap, double value_tap, const Params &at, std::uint64_t seed, double wanted) {
  const int d = at.integer("d"), T = at.integer("T");
  const Dense target = random_target(d, d, seed);
  return mean_over_runs(seed, "convolved update", wanted, block_of(T, 2 * d), size_t(5e7) / (T * d),
                        [&](const Stretch &stretch) {
                          const Vector x = random_keys(KeyLaw::unit, T + 1, d, stretch);
                          const auto filtered = [&](double tap) {
                            Vector y;
                            y.reserve(stretch.runs * T * d);
                            for (size_t run = 0; run < stretch.runs; ++run)
                              for (size_t i = (run * (T + 1) + 1) * d; i < (run + 1) * (T + 1) * d; ++i)
                                y.push_back(std::sqrt(1 - tap * tap) * x[i] + tap * x[i - d]);
                            return y;
                          };
                          Sequence s;
                          s.shape = {int(stretch.runs), 1, T, d, d};
                          s.k = filtered(key_tap), s.q = s.k, s.v = mapped(target, filtered(value_tap));
                          s.beta.assign(stretch.runs * T, at.real("beta"));
                          Vector squares = update_squares("delta_net", s);
                          for (double &y : squares) y /= inner(target.data, target.data);
                          return squares;
                        });
}

/// Keys x_t, values S* (a x_t + b x_{t-1}), |S*| = 1. E_t = S_t - a S* obeys E <- E (I - beta k k^T) + beta b S* x_{t-1} k^T,
/// whose cross terms are odd in k_t: E|E|^2 <- f E|E|^2 + beta^2 b^2 / d, and E|S' - S|^2 = beta^2 (E|E|^2 + b^2) / d.
double convolved_law(double tap, double beta, int d, int T) {
  double square = 1 - tap * tap, update = 0; // from S_0 = 0
  for (int t = 0; t < T; ++t) {
    update = beta * beta * (square + tap * tap) / d;
    square = (1 - beta * (2 - beta) / d) * square + beta * beta * tap * tap / d;
  }
  return update;
}

Claim convolutions() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const Params own = labels({{"tap", num(0.6)}, {"beta", num(0.8)}, {"d", num(5)}, {"T", num(14)}});
    for (const Params &at : points_of(protocol, {own})) {
      const double tap = at.real("tap"), beta = at.real("beta"), wanted = wanted_sensitivity(protocol);
      const int d = at.integer("d"), T = at.integer("T");
      const Params few = shortened(at); // as above
      const double law = convolved_law(tap, beta, d, T), falling = convolved_law(0, beta, d, few.integer("T"));
      const auto measured = [&](double key_tap, double value_tap, double to) {
        return convolved_update(key_tap, value_tap, at, protocol.seed, to);
      };
      const Point differs = sampled_point(measured(0, tap, wanted), law);
      append(points,
             {as_statement(sampled_point(measured(tap, tap, wanted), law), at,
                           "equal taps of k and v: mean of |S_T - S_{T-1}|^2 / |S*|^2 against that of unequal ones"),
              as_condition(differs, at, "taps (1, 0) and (sqrt(1-tap^2), tap): the same against its recursion"),
              rival_system(sampled_point(measured(0, 0, rough), law), at, "no convolution"),
              rival_law(differs, "as without convolution", convolved_law(0, beta, d, T)),
              rival_law(differs, "the memory at rest: beta^2 b^2 / d", beta * beta * tap * tap / d),
              as_obligation(sampled_point(convolved_update(0, 0, few, protocol.seed, wanted), falling), few,
                            "no convolution: the same against its falling law")});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(
              under("the taps of keys and values differ",
                    ledger_row(
                        "conv-prevents-stagnation", "000 §2.2.2 Summary",
                        "Short convolutions on keys and values can effectively prevent memory updates "
                        "from stagnating.",
                        "Only where the taps of $k$ and $v$ differ, so that $v$ is no function of $k$. Keys $x_t$, "
                        "values $S* (a x_t + b x_{t-1})$ on isotropic unit inputs: $E|S_t - S_{t-1}|^2$ stays "
                        "at $2 beta^2 b^2 |S*|^2 / (d (2 - beta))$.",
                        measure)),
              "With equal taps $v$ is still $S* k$, and the updates die out as they do without convolution. Trained "
              "taps "
              "differ, so that the sentence is fair of practice."),
          {real_param("tap", 0.6, 0.4, 0.9, "of the values, on the input before"),
           real_param("beta", 0.8, 0.3, 1.2, "step size"), integer_param("d", 5, 4, 10, "key and value width"),
           integer_param("T", 14, 12, 40, "steps")}),
      {"delta_net"});
}

} // namespace

std::vector<Claim> section_2_2_2_stagnation() {
  return {
      decay(), convolutions(),
      untested_row("layers-prevent-stagnation", Reason::under_specified, "000 §2.2.2 Summary",
                   "In networks of many layers the fluctuations of each may accumulate and keep memory from smoothly "
                   "approaching its analytical limit.",
                   "Neither the network nor the data are specified.")};
}

} // namespace recollect::theory
