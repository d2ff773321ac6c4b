// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 2: weighted least squares, without the inverse (gated linear attention, Eq 4, 16) and exactly.
#include "theory/test_time_regression/decays.hpp"

namespace recollect::theory {
namespace {
Sequence gated_steps(const Shape &shape, Seed seed) {
  Sequence s = random_sequence(shape, seed);
  s.lambda.clear(), s.alpha = gates(shape.T, seed);
  return s;
}

/// sum_i gamma_i^(t) v_i k_i^T.
Output decayed_sum(const Sequence &s, Product product) {
  return stepped(s, [&](const Dense &, const Dense &, const Dense &, int t) {
    const Vector w = weights(s, t, product);
    Dense M(s.shape.Dv, s.shape.Dk);
    for (int i = 0; i <= t; ++i) M = M + w[i] * write(column(s.v, i, s.shape.Dv), column(s.k, i, s.shape.Dk));
    return M;
  });
}

Claim gated_sum() {
  ClaimBuilder c("gated-linattn-eq16", "003 Eq 4, 16");
  c.says("Without the inverse the solution of weighted least squares is $sum_i gamma_i^(t) v_i k_i^T$, which the gated "
         "recurrence $M_t = gamma_t M_{t-1} + v_t k_t^T$ computes.");
  c.exactly("This is an identity, with the weights $gamma_i^(t) = prod_{j=i+1..t} gamma_j$. $gamma_1$ occurs in no "
            "weight, because it multiplies $M_0 = 0$.");
  c.because("A step decays the memory before it writes, so the newest pair has the weight 1.");
  c.runs({"gated_linear", "linear"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gated_steps(shape, seed);
    const Measured layer = measured("gated_linear", s);
    const Output sum = decayed_sum(s, Product::after);
    points.statement("the gated recurrence gives the weighted sum", layer.against(sum));
    const Output late = stepped(
        s, [&](const Dense &M, const Dense &k, const Dense &v, int t) { return s.alpha[t] * (M + write(v, k)); });
    Sequence first = s; // the first gate multiplies M_0 = 0 and occurs in no weight
    first.alpha[0] = 0.01;
    points.statement("the weighted sum does not depend on $gamma_1$", measured("gated_linear", first).against(sum))
        .but_not("weights that include the gate of step i", layer.against(decayed_sum(s, Product::from)))
        .but_not("a decay after the write", layer.against(late));
    points.wrong_system("no gate", measured("linear", s).against(sum));
  });
}

/// Steps of recursive least squares: M + (v - M k) (P' k)^T with P' = scale (P - P k k^T P / (noise + k^T P k)).
/// `scale` and `noise` are functions of the gate.
struct Update {
  double (*scale)(double gate);
  double (*noise)(double gate);
};
Output recursion(const Sequence &s, Dense P, const Update &update) {
  return stepped(s, [&, P](const Dense &M, const Dense &k, const Dense &v, int t) mutable {
    const Dense Pk = P * k;
    P = update.scale(s.alpha[t]) * (P - 1 / (update.noise(s.alpha[t]) + (transpose(k) * Pk)(0, 0)) * write(Pk, Pk));
    return M + write(v - M * k, P * k);
  });
}

Claim weighted_recursion() {
  ClaimBuilder c("weighted-rls-woodbury", "003 Vignette 2, Efficient computation");
  c.says("With geometric weights the Woodbury formula gives a sequential algorithm, geometrically weighted recursive "
         "least squares. Its result equals the batch solution.");
  c.exactly("The inverse $P$ is updated to $(1/gamma)(P - P k k^T P / (gamma + k^T P k))$ for $gamma > 0$. A ridge at "
            "the start decays like the weight of a pair.");
  c.because("Because the ridge is forgotten too, the inverse $P$ grows along directions in which no later key has a "
            "component.");
  c.runs({"weighted_rls", "rls"}), c.takes(one_head_params({1, 1, 12, 4, 3}));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gated_steps(shape, seed);
    const int Dk = s.shape.Dk;
    const double ridge = 0.5;
    // The batch solution of every prefix. The weight of pair i is the product of the gates after it, the weight of the
    // ridge the product of all gates.
    std::vector<Vector> w;
    for (int t = 0; t < shape.T; ++t) w.push_back(weights(s, t));
    const auto batch = [&](bool fading) {
      const auto gram = [&](int t) { return ridge * (fading ? w[t][0] * s.alpha[0] : 1) * Dense::identity(Dk); };
      return solutions(s, gram, Dense(shape.Dv, Dk), [&](int i, int t) { return i <= t ? w[t][i] : 0; });
    };
    const Assignments set{{"ridge", number(ridge)}};
    const Measured layer = measured("weighted_rls", s, set), plain = measured("rls", s, set);
    // The rounding bound is for the worst case: the ridge has decayed to 0.5^T, and the newest pair has the weight 1.
    const double factor = std::min(std::pow(2.0, s.shape.T), 1e4);
    points.statement("memory: the weighted batch solution of every prefix", layer.against(batch(true), factor))
        .but_not("a ridge that does not decay", layer.against(batch(false), factor));
    points.wrong_system("RLS without weights", plain.against(batch(true), factor));
    const auto inverted = [](double g) { return 1 / g; };
    const auto gate = [](double g) { return g; };
    const auto one = [](double) { return 1.0; };
    const Dense P = 1 / ridge * Dense::identity(Dk);
    const auto by = [&](const Update &update) { return layer.against(recursion(s, P, update), factor); };
    points.statement("updated inverse: $(1/gamma)(P - P k k^T P / (gamma + k^T P k))$", by({inverted, gate}))
        .but_not("1 in place of $gamma$ in the denominator", by({inverted, one}))
        .but_not("the factor $1/gamma$ dropped", by({one, gate}));
  });
}
} // namespace

std::vector<Claim> vignette_2_gated() { return {gated_sum(), weighted_recursion()}; }
} // namespace recollect::theory
