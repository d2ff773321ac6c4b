// SPDX-License-Identifier: Apache-2.0
// 004 Table 4, row 3: VLA without key normalisation. The paper reports that its training ends in NaN for d >= 96.
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {
Claim nan_in_training() {
  ClaimBuilder c("vla-nan-without-khat", "004 §3.3, §4.2, §6.6, Table 4");
  c.says("Without key normalisation losses become NaN for $d >= 96$, which is proved analytically (Table 4's note).");
  c.exactly("The statement is an observation in training. Neither Table 2 nor Proposition 2 proves it. The experiments "
            "have $d_h = 32$, and the paper does not say whether $d$ is the width of the model or of a head.");
  c.because("The claim vla_nokhat_overflow measures that a forward pass in float32 overflows within MQAR's 49 steps "
            "from about $d_h = 96$ on.");
  return c.is_not_tested(Reason::needs_training);
}

/// Keys of any length, as in the ablation, or of length 1. The write direction is the unit vector along A_t k.
enum class Keys { raw, unit };

/// What must stay below the largest number: the state S (`state`), or the sums in a step, which are at most |v_i| +
/// sum_j |S_ij k_j| (`sums`).
enum class Of { state, sums };

/// The first step at which the state or a sum (see Of) exceeds `largest` or is not finite; most + 1 if there is no such
/// step. The inputs are random elu + 1 keys, N(0,1) values and random unit penalty directions.
int overflow_step(int d, double sigma, Keys kind, Real real, double largest, int most, Seed seed, std::uint64_t stream,
                  Of of) {
  const int dv = 4; // rows of S; all rows grow at the same rate
  const Stream keys(seed, "overflow/keys", stream), penalties(seed, "overflow/penalties", stream),
      values(seed, "overflow/values", stream);
  Vla direction(d, 1, 0.1, {{"refresh", "0"}}, "vla", real);
  Vla memory(d, dv, 1, {{"refresh", "0"}}, "vla_unnormalized", real);
  for (int t = 0; t < most; ++t) {
    Vector k = keys.normals(d, std::uint64_t(d) * t);
    for (double &x : k) x = elu1(sigma * x);
    if (kind == Keys::unit) k = unit(k);
    direction.step(k, random_unit(d, penalties, t), {0.0}); // a_t does not depend on the key's length
    memory.A = 1 / inner(k, k) * outer(direction.a, k);     // A k = a_t
    const Vector v = values.normals(dv, std::uint64_t(dv) * t);
    for (int i = 0; i < dv && of == Of::sums; ++i) {
      double sum = std::fabs(v[i]);
      for (int j = 0; j < d; ++j) sum += std::fabs(memory.S(i, j) * k[j]);
      if (!(sum <= largest)) return t + 1;
    }
    memory.write(k, v);
    for (double x : memory.S.data)
      if (!(std::fabs(x) <= largest)) return t + 1;
  }
  return most + 1;
}

Claim overflow() {
  ClaimBuilder c("vla-nokhat-overflow", "004 §6.6 (derived)");
  c.says("With elu + 1 keys that are not normalised and unit write directions, the float32 state overflows in the "
         "forward pass within the $T = 3n + 1 = 49$ steps of $n = 16$ pairs.");
  c.exactly("The state overflows within 49 steps from about $d_h = 96$ on. With pre-activations of $N(0,1)$ and random "
            "unit $u$ the first step whose state is not finite is 74 to 102 at $d_h = 32$, 51 to 59 at 64, 44 to 48 at "
            "96, and 41 to 43 at 128. With normalised keys the state never overflows. In float64 an overflow takes "
            "about eight times as many steps.");
  c.because("In the authors' favour: $|I - a k^T|$ is at least $|k| - 1$, and the norm $|k|$ of elu + 1 features grows "
            "as $sqrt(2 d)$.");
  c.holds_under("$d_h$ is about 96 or more");
  c.runs({"vla", "vla_unnormalized"});
  c.takes({integer_param("d", 96, 2, 192, "head width"),
           real_param("sigma", 1, 0.5, 2, "standard deviation of the pre-activations")});
  c.at({{}}, {{}, {{"d", 128}, {"sigma", std::sqrt(1.0 / 3)}}});
  const int pairs = 16, length = 3 * pairs + 1;
  const double float_max = std::numeric_limits<float>::max(), double_max = std::numeric_limits<double>::max();
  const auto steps = [=](Seed seed, int streams, int d, double sigma, Keys kind, Real real, double largest,
                         Of of = Of::state) {
    Vector first;
    for (int i = 0; i < streams; ++i)
      first.push_back(overflow_step(d, sigma, kind, real, largest, length + 20, seed, i, of));
    return first;
  };
  c.last([=](Points &points, const Protocol &protocol) {
    const Vector narrow = steps(protocol.seed, 3, 32, 1, Keys::raw, Real::f32, float_max);
    points.at(labels({{"d", num(32)}, {"sigma", num(1)}}));
    points.statement("float32: earliest step whose state is not finite, at most 49",
                     at_most_point(*std::min_element(narrow.begin(), narrow.end()), length, 0));
  });
  return measure(c, [=](Points &points, const Protocol &protocol, int d, double sigma) {
    const int streams = protocol.full() ? 8 : 3;
    if (d < 96) usage_error("d must be at least 96: below it not every pass overflows within 49 steps");
    const Vector single = steps(protocol.seed, streams, d, sigma, Keys::raw, Real::f32, float_max),
                 crossing = steps(protocol.seed, streams, d, sigma, Keys::raw, Real::f64, float_max),
                 sums = steps(protocol.seed, streams, d, sigma, Keys::raw, Real::f64, float_max, Of::sums);
    // In exact arithmetic the layer overflows between two steps: not before a bound on the sums of a step exceeds the
    // largest float, and not after S exceeds it. Rounding may shift one sequence by one step.
    const double first = mean_of(sums).mean, last = mean_of(crossing).mean;
    const auto within = [&](Keys kind, Real real, double largest) {
      return at_most_point(steps(protocol.seed, 1, d, sigma, kind, real, largest)[0], length, 0);
    };
    points.condition("float32: first step whose state is not finite, at most 49",
                     at_most_point(mean_of(single), length));
    points.obligation("float32: first step whose state is not finite, within bounds from float64",
                      bracketed_point(mean_of(single).mean, (first + last) / 2, (last - first) / 2 + 1.0 / streams));
    points.wrong_system("keys normalised, float32: first step whose state is not finite, at most 49",
                        within(Keys::unit, Real::f32, float_max));
    points.wrong_system("keys not normalised, float64: first step whose state is not finite, at most 49",
                        within(Keys::raw, Real::f64, double_max));
  });
}
} // namespace

std::vector<Claim> table_4_no_key_norm() { return {nan_in_training(), overflow()}; }
} // namespace recollect::theory
