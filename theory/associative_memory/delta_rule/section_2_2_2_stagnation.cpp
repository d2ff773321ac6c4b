// SPDX-License-Identifier: Apache-2.0
// 000 §2.2.2 Summary: what keeps memory updates from stagnating. Runs start from S_0 = 0. The mean square of their last
// update, S_T - S_{T-1}, is compared with exact recursions.
#include "theory/associative_memory/delta_rule/delta_paths.hpp"

namespace recollect::theory {
namespace {
/// |S_T - S_{T-1}|^2 / divisor of every run. The layer runs T-1 steps, then the last step from the state they leave.
Vector update_squares(const std::string &layer, const Sequence &s, double divisor = 1) {
  Sequence last = slice_steps(s, s.shape.T - 1, s.shape.T);
  last.state = run(layer, slice_steps(s, 0, s.shape.T - 1)).state;
  Output after = run(layer, last);
  after.state = minus(after.state, last.state);
  return state_squares(after, divisor);
}

/// The number of steps at points without decay. It is small, because without decay the fourth moment of the error grows
/// faster than the square of the second moment.
constexpr int few = 7;

/// The mean square of the last update of gated linear attention on independent standard Gaussian pairs. The squared
/// norm of the last write is replaced by its mean d dv, because its sampling variance would be nearly all of the
/// variance of the result.
Mean decayed_update(double lambda, int T, int d, int dv, std::uint64_t seed, double wanted) {
  const auto draw = [&](const Stretch &stretch) {
    const Sequence s = filled(random_runs(KeyLaw::gaussian, T, d, dv, stretch), &Sequence::alpha, lambda);
    Vector squares = update_squares("gated_linear", s);
    for (size_t run = 0; run < stretch.runs; ++run) {
      const double *k = &s.k[((run + 1) * T - 1) * d], *v = &s.v[((run + 1) * T - 1) * dv];
      squares[run] += d * dv - inner(k, k, d) * inner(v, v, dv);
    }
    return squares;
  };
  return mean_over_runs(seed, "decayed update", wanted, T, d + dv, draw);
}

/// DeltaNet with decay alpha on isotropic unit keys, with v = S* k and |S*|^2 = 1. A step is S' = alpha S + beta R k
/// k^T, where R = S* - alpha S. The second moments of S and of S' - S are exact, because E|A k|^2 = |A|^2 / d and E<S,
/// A k k^T> = <S, A> / d.
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

/// The mean of |S_T - S_{T-1}|^2 / |target|^2 over the sequences that inputs(target, stretch) returns.
template <class Inputs>
Mean mean_update(const std::string &layer, const std::string &stream, int d, int T, Seed seed, double wanted,
                 const Inputs &inputs) {
  const Dense target = random_target(d, d, seed);
  return mean_over_runs(seed, stream, wanted, T, 2 * d, [&](const Stretch &stretch) {
    return update_squares(layer, inputs(target, stretch), inner(target.data, target.data));
  });
}

Claim decay() {
  ClaimBuilder c("decay-prevents-stagnation", "000 §2.2.2 Summary");
  c.says("Memory decay can effectively prevent memory updates from stagnating.");
  c.exactly("For gated linear attention with $lambda < 1$ on independent Gaussian pairs, $E|S_t - S_{t-1}|^2$ stays at "
            "$2 d dv / (1 + lambda)$. For DeltaNet with decay $alpha$ on isotropic unit keys with $v = S* k$, the mean "
            "square of the update settles at a positive value. Without decay every step multiplies this mean square by "
            "$1 - beta (2 - beta)/d$.");
  c.because("Decay keeps the memory away from $S*$, because what has decayed must be written again.");
  c.runs({"gated_linear", "gated_delta_net", "delta_net"});
  c.takes({real_param("lambda", 0.9, 0.1, 0.95, "decay of gated linear attention"),
           real_param("alpha", 0.95, 0.5, 0.98, "decay of DeltaNet"),
           real_param("beta", 0.8, 0.3, 1.5, "step size of DeltaNet"),
           integer_param("d", 5, 4, 16, "key and value width"), steps_param(14, 8, 40)});
  return measure(c, [](Points &points, const Protocol &protocol, Params p, double lambda, double alpha, double beta,
                       int d, int T) {
    const double wanted = wanted_sensitivity(protocol);
    const auto update = [&](const char *layer, int steps, double sensitivity) {
      const auto inputs = [&](const Dense &target, const Stretch &stretch) {
        return filled(draw_paths({KeyLaw::unit, d, d, beta, 0}, steps, target, stretch), &Sequence::alpha, alpha);
      };
      return mean_update(layer, "decayed delta update", d, steps, protocol.seed, sensitivity, inputs);
    };
    // The mean square of the update is the stationary E|S|^2 = d^2 / (1 - lambda^2) times (1-lambda)^2, plus d^2 for
    // the write. After 100 steps the share of the initial state is at most 0.95^200 = 3e-5.
    const double writes = d * d, shrinks = writes * (1 - lambda) / (1 + lambda);
    points
        .statement("gated linear attention: mean of $|S_T - S_{T-1}|^2$ against $2 d dv / (1 + lambda)$, $dv = d$",
                   decayed_update(lambda, 100, d, d, protocol.seed, wanted / 4), writes + shrinks)
        .but_not("$d dv$, the limit for $lambda -> 1$", writes)
        .but_not("the last write left out", shrinks);
    const auto falling = [&](int steps) { return beta * beta / d * std::pow(1 - beta * (2 - beta) / d, steps - 1); };
    const double settled = decayed_delta_update(alpha, beta, d, T);
    points
        .statement("gated DeltaNet: mean of $|S_T - S_{T-1}|^2 / |S*|^2$ against its recursion",
                   update("gated_delta_net", T, wanted), settled)
        .but_not("the law without decay, which falls", falling(T));
    points.wrong_system("DeltaNet without decay", update("delta_net", T, rough), settled);
    points.at(p.set("T", few))
        .obligation("DeltaNet without decay: mean of $|S_T - S_{T-1}|^2 / |S*|^2$ against $beta^2/d (1 - beta "
                    "(2-beta)/d)^(T-1)$",
                    update("delta_net", few, wanted), falling(few));
  });
}

/// The inputs x_t are uniform on the unit sphere. Keys are k_t = a x_t + b x_{t-1}, values S* (a' x_t + b' x_{t-1}).
/// The taps b and b' are the arguments; a = sqrt(1 - b^2) and a' = sqrt(1 - b'^2).
Mean convolved_update(double key_tap, double value_tap, double beta, int d, int T, Seed seed, double wanted) {
  const auto inputs = [&](const Dense &target, const Stretch &stretch) {
    const Vector x = random_keys(KeyLaw::unit, T + 1, d, stretch);
    const auto filtered = [&](double tap) {
      Vector y;
      y.reserve(stretch.runs * T * d);
      for (size_t run = 0; run < stretch.runs; ++run)
        for (size_t i = (run * (T + 1) + 1) * d; i < (run + 1) * (T + 1) * d; ++i)
          y.push_back(std::sqrt(1 - tap * tap) * x[i] + tap * x[i - d]);
      return y;
    };
    return runs_on(stretch, T, filtered(key_tap), mapped(target, filtered(value_tap)), beta);
  };
  return mean_update("delta_net", "convolved update", d, T, seed, wanted, inputs);
}

/// The law of convolved_update for keys x_t and values S* (a x_t + b x_{t-1}), where |S*| = 1. The error E = S_t - a S*
/// obeys E <- E (I - beta k k^T) + beta b S* x_{t-1} k^T. Cross terms vanish in the mean, so a step turns the mean of
/// |E|^2 into (1 - beta (2 - beta) / d) |E|^2 + beta^2 b^2 / d, and the mean square of the update is beta^2 (|E|^2 +
/// b^2) / d.
double convolved_law(double tap, double beta, int d, int T) {
  double square = 1 - tap * tap, update = 0; // square: |E|^2, at S_0 = 0
  for (int t = 0; t < T; ++t) {
    update = beta * beta * (square + tap * tap) / d;
    square = (1 - beta * (2 - beta) / d) * square + beta * beta * tap * tap / d;
  }
  return update;
}

Claim convolutions() {
  ClaimBuilder c("conv-prevents-stagnation", "000 §2.2.2 Summary");
  c.says("Short convolutions on keys and values can effectively prevent memory updates from stagnating.");
  c.holds_under("the taps (weights) of the convolutions on keys and values differ");
  c.exactly("This holds only if the taps of the convolutions on $k$ and $v$ differ, so that $v$ is not a function of "
            "$k$. For isotropic unit inputs $x_t$, keys $x_t$ and values $S* (a x_t + b x_{t-1})$ with $a^2 + b^2 = "
            "1$, $E|S_t - S_{t-1}|^2$ stays at $2 beta^2 b^2 |S*|^2 / (d (2 - beta))$.");
  c.because("With equal taps $v = S* k$ still holds, and the updates vanish as they do without a convolution. Trained "
            "taps differ, so the sentence is true in practice.");
  c.runs({"delta_net"});
  c.takes({real_param("tap", 0.6, 0.4, 0.9, "weight of the previous input in the values"),
           real_param("beta", 0.8, 0.3, 1.2, "step size"), integer_param("d", 5, 4, 10, "key and value width"),
           steps_param(14, 12, 40)});
  return measure(c, [](Points &points, const Protocol &protocol, Params p, double tap, double beta, int d, int T) {
    const double law = convolved_law(tap, beta, d, T), wanted = wanted_sensitivity(protocol);
    const auto update = [&](double key_tap, double value_tap, int steps, double sensitivity) {
      return convolved_update(key_tap, value_tap, beta, d, steps, protocol.seed, sensitivity);
    };
    points.statement("equal taps of k and v: mean of $|S_T - S_{T-1}|^2 / |S*|^2$ against the law of unequal taps",
                     update(tap, tap, T, rough), law);
    points
        .condition("key taps (1, 0), value taps ($sqrt(1-tap^2)$, tap): mean of $|S_T - S_{T-1}|^2 / |S*|^2$ against "
                   "its recursion",
                   update(0, tap, T, wanted), law)
        .but_not("the law without convolution", convolved_law(0, beta, d, T))
        .but_not("$beta^2 b^2 / d$, as if the memory were at rest", beta * beta * tap * tap / d);
    points.wrong_system("no convolution", update(0, 0, T, rough), law);
    points.at(p.set("T", few))
        .obligation("no convolution: mean of $|S_T - S_{T-1}|^2 / |S*|^2$ against the law without convolution",
                    update(0, 0, few, wanted), convolved_law(0, beta, d, few));
  });
}
} // namespace

std::vector<Claim> section_2_2_2_stagnation() {
  return {decay(), convolutions(),
          not_tested("layers-prevent-stagnation", "000 §2.2.2 Summary", Reason::under_specified,
                     "In networks of many layers the fluctuations of the layers may accumulate and keep the memory "
                     "from approaching its analytical limit smoothly.",
                     "The text specifies neither the network nor the data.")};
}
} // namespace recollect::theory
