// SPDX-License-Identifier: Apache-2.0
// Softmax attention as a running mean (000 Eq 77-79, §2.2.1): what its weights say of old and new writes.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

constexpr int T = 20, d = 6, dv = 4;

Dense keys_of(const Sequence &s) { return Dense(s.shape.T, s.shape.Dk, s.k); }
Dense values_of(const Sequence &s) { return Dense(s.shape.T, s.shape.Dv, s.v); }
Sequence gaussian_story(std::uint64_t seed) { return random_sequence({1, 1, T, d, dv}, seed, Keys::gaussian); }
Dense final_state(const std::string &variant, const Sequence &s) {
  return Dense(s.shape.Dv, s.shape.Dk, forward(find_variant(variant), s).state);
}

/// Rounding units of a sum of n outer products or reads over d channels.
double units(const Sequence &s) {
  return 4.0 * (s.shape.T + s.shape.Dk) * frobenius_norm(keys_of(s)) * frobenius_norm(values_of(s)) *
         (1 + max_abs(s.q));
}

Point same(const Vector &measured, const Vector &expected, double conditioning, const std::string &quantity) {
  return at(exact_point(max_difference(measured, expected), 0, conditioning, 1e-3), "exact",
            labels({{"quantity", txt(quantity)}}));
}

/// S_t = (t-1)/t S_{t-1} + v_t k_t^T / t is the mean of the first `terms` outer products' running sum.
std::vector<Point> running_mean(const Protocol &protocol, int terms) {
  Sequence s = gaussian_story(protocol.seed);
  s.lambda.clear();
  Dense mean(dv, d);
  for (int t = 0; t < T; ++t) {
    for (int i = 0; t < terms && i < dv; ++i)
      for (int j = 0; j < d; ++j) mean(i, j) += s.v[t * dv + i] * s.k[t * d + j] / T;
    s.alpha[t] = double(t) / (t + 1);
  }
  const double conditioning = units(s);
  for (int t = 0; t < T; ++t)
    for (int i = 0; i < dv; ++i) s.v[t * dv + i] /= t + 1;
  return {same(final_state("gated_linear", s).data, mean.data, conditioning, "S_T - mean of v_t phi_t^T")};
}

/// Equal similarities (q = 0), values the unit vectors: the last read is the weight of every write.
Vector final_weights(const std::string &variant, int steps, double gate) {
  Sequence s;
  s.shape = {1, 1, steps, 1, steps};
  s.k.assign(steps, 1.0), s.q.assign(steps, 0.0), s.alpha.assign(steps, gate);
  s.v = Dense::identity(steps).data;
  const Vector o = forward(find_variant(variant), s).o;
  return Vector(o.end() - steps, o.end());
}

Params at_time(int t, const std::string &quantity) { return labels({{"t", num(t)}, {"quantity", txt(quantity)}}); }

/// With its own normaliser Z_t = lambda Z_{t-1} + 1 the newest write weighs (1-lambda)/(1-lambda^t), not 1/t.
std::vector<Point> gated_normaliser(const Protocol &) {
  std::vector<Point> points;
  const double gate = 0.5;
  for (int t : {2, 10, 100}) {
    const Vector now = final_weights("gated_softmax", t, gate), before = final_weights("gated_softmax", t - 1, gate);
    const double Z = (1 - std::pow(gate, t)) / (1 - gate), last = (1 - std::pow(gate, t - 1)) / (1 - gate);
    if (t == 2)
      points.push_back(at(exact_point(now[t - 1], 1.0 / t, 8.0 * t, 0), "paper",
                          at_time(t, "weight of the newest write, lambda = 1/2")));
    points.push_back(at(exact_point(now[t - 1], 1 / Z, 8.0 * t, 1e-3), "corrected",
                        at_time(t, "weight of the newest write, lambda = 1/2")));
    points.push_back(at(exact_point(now[t - 2] / before[t - 2], gate * last / Z, 16.0 * t, 1e-3), "corrected",
                        at_time(t, "A_t: what is kept of an older write, lambda = 1/2")));
    const Vector ungated = final_weights("gated_softmax", t, 1);
    points.push_back(at(exact_point(ungated[t - 1], 1.0 / t, 8.0 * t, 1e-3 / t), "exact",
                        at_time(t, "weight of the newest write, lambda = 1")));
  }
  return points;
}

/// The newest write enters with 1/t, but every older one is scaled by (t-1)/t: in the end all weigh 1/t, and the order
/// is forgotten.
std::vector<Point> uniform_weights(const Protocol &protocol) {
  std::vector<Point> points;
  for (int t : {2, 50}) {
    const Vector weights = final_weights("softmax", t, 1);
    if (t == 2)
      points.push_back(at(exact_point(weights[1] / weights[0], 0.5, 16, 0), "paper",
                          at_time(t, "weight of the newest over the oldest write")));
    points.push_back(at(exact_point(weights[t - 1] / weights[0], 1, 16.0 * t, 1e-3), "corrected",
                        at_time(t, "weight of the newest over the oldest write")));
    points.push_back(at(exact_point(weights[t - 1], 1.0 / t, 8.0 * t, 1e-3 / t), "corrected",
                        at_time(t, "weight of the newest write")));
  }
  const Sequence s = gaussian_story(protocol.seed);
  Sequence shuffled = s;
  const std::vector<int> order = Stream(protocol.seed, 191).permutation(T);
  for (int t = 0; t < T; ++t) {
    std::copy_n(&s.k[order[t] * d], d, &shuffled.k[t * d]);
    std::copy_n(&s.v[order[t] * dv], dv, &shuffled.v[t * dv]);
  }
  const Vector one = forward(find_variant("softmax"), s).o, two = forward(find_variant("softmax"), shuffled).o;
  Point p = same(Vector(one.end() - dv, one.end()), Vector(two.end() - dv, two.end()), 16.0 * T * max_abs(s.v),
                 "last read of a sequence and of a permutation of it");
  p.tier = "corrected";
  points.push_back(p);
  return points;
}

} // namespace

std::vector<Claim> eq_79_softmax_as_mean() {
  Claim eq79 = ledger_row(
      "eq79-recurrence", "000 Eq 79", "S_t = (t-1)/t S_{t-1} + v_t phi_t^T / t is the mean of the outer products.",
      "Identity. Control: the last term dropped.", [](const Protocol &p) { return running_mean(p, T); });
  eq79.control = [](const Protocol &p) { return running_mean(p, T - 1); };
  return {
      running(eq79, {"gated_linear"}),
      running(refuted_row("gated-softmax-normaliser", Scope::paper, "000 Eq 81, Table 2, last row",
                          "Gated softmax attention has A = (t-1)/t diag(lambda) and C = v phi(k)^T / t.",
                          "With the gated normaliser Z_t = lambda Z_{t-1} + kappa, A_t = lambda Z_{t-1}/Z_t tends to "
                          "lambda and the weight of a write, 1/Z_t, to 1 - lambda: the update does "
                          "not vanish. (t-1)/t and 1/t belong to lambda = 1 alone.",
                          gated_normaliser),
              {"gated_softmax"}),
      running(refuted_row("softmax-later-attenuated", Scope::paper, "000 §2.2.1",
                          "With softmax's normaliser, information closer to the future is increasingly attenuated.",
                          "A write enters with 1/t, and every step scales what is older by (t-1)/t: all t items end "
                          "with weight 1/t, and the read does not depend on their order.",
                          uniform_weights),
              {"softmax"}),
  };
}

} // namespace recollect::theory
