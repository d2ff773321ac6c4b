// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3 after Eq 29: several gradient steps per token (DeltaProduct).
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
/// M_t = M_{t-1} H_1 ... H_n + sum_j beta_j v_j k_j^T H_{j+1} ... H_n, H_j = I - beta_j k_j k_j^T; n steps per token.
enum class Order { forward, reversed };
enum class Correction { by_later_steps, none };
Vector token_by_token(const Sequence &s, int n, Order order, Correction correction) {
  Dense M(s.shape.Dv, s.shape.Dk);
  Vector memories;
  for (int t = 0; t < s.shape.T; t += n) {
    Dense written(s.shape.Dv, s.shape.Dk), product = Dense::identity(s.shape.Dk);
    for (int i = 0; i < n; ++i) {
      const int j = t + (order == Order::forward ? i : n - 1 - i);
      const Dense k = column(s.k, j, s.shape.Dk), v = column(s.v, j, s.shape.Dv),
                  H = Dense::identity(s.shape.Dk) - s.beta[j] * write(k, k);
      written = (correction == Correction::by_later_steps ? written * H : written) + s.beta[j] * write(v, k);
      product = product * H;
    }
    M = M * product + written;
    memories.insert(memories.end(), M.data.begin(), M.data.end());
  }
  return memories;
}
/// The layer's memory after every n-th step.
Vector every(int n, const std::string &variant, const Sequence &s) {
  Vector memories;
  for (int t = n; t <= s.shape.T; t += n) {
    const Vector state = run(variant, slice_steps(s, 0, t)).state;
    memories.insert(memories.end(), state.begin(), state.end());
  }
  return memories;
}

Claim product_sequence() {
  ClaimBuilder c("deltaproduct-sequence", "003 after Eq 29 (DeltaProduct, named only)");
  c.says("Eq 29 is extended by several gradient steps per token, each with a separate key, value and step size: a "
         "token takes $n_h$ steps of DeltaNet.");
  c.exactly(
      "With $n = n_h$ steps a token changes $M$ to $M H_1 ... H_n + sum_j beta_j v_j k_j^T H_{j+1} ... H_n$, where "
      "$H_j = I - beta_j k_j k_j^T$. The transition $H_1 ... H_n$ differs from $I$ by a matrix of rank $n_h$.");
  c.because("The equation is derived here, because the paper gives none.");
  c.runs({"delta_net", "delta_product", "linear"});
  c.takes(one_head_params(point_P), {integer_param("n", 2, 2, 8, "steps per token")}), c.at({{}, {{"n", 3}}});
  return measure(c, [](Points &points, Seed seed, const Shape &shape, int n) {
    if (n >= shape.Dk) usage_error("n must be below Dk, for n independent keys per token");
    const Sequence s = random_sequence({1, 1, n * shape.T, shape.Dk, shape.Dv}, seed);
    const Vector layer = every(n, "delta_net", s);
    const double units = 4 * rounding_units("delta_net", s);
    points.rounding(units);
    const auto tokens = [&](Order order, Correction by) { return token_by_token(s, n, order, by); };
    const Vector law = tokens(Order::forward, Correction::by_later_steps);
    points.statement("n steps of DeltaNet are one step with a product of n factors", layer, law)
        .but_not("the factors in reverse order", tokens(Order::reversed, Correction::by_later_steps))
        .but_not("writes not corrected by the later factors", tokens(Order::forward, Correction::none));
    points.wrong_system("linear attention", every(n, "linear", s), law);
    const Dense less_I = transition("delta_net", slice_steps(s, 0, n)) - Dense::identity(shape.Dk);
    points.rounding(0)
        .statement("rank of the transition minus I: n", rank(less_I, 1e-9), n)
        .but_not("1, as for one step", 1);
    // The layer DeltaProduct, two keys per token (w, then k) with one value and one strength.
    const Sequence pair = random_sequence(shape, seed);
    Sequence expanded = random_sequence({1, 1, 2 * shape.T, shape.Dk, shape.Dv}, seed);
    const auto steps = [&](bool key_first) {
      for (int t = 0; t < shape.T; ++t)
        for (int j : {0, 1}) {
          const bool second = (j == 1) != key_first;
          std::copy_n(&(second ? pair.k : pair.w)[t * shape.Dk], shape.Dk, &expanded.k[(2 * t + j) * shape.Dk]);
          std::copy_n(&pair.v[t * shape.Dv], shape.Dv, &expanded.v[(2 * t + j) * shape.Dv]);
          expanded.beta[2 * t + j] = pair.beta[t];
        }
      return token_by_token(expanded, 2, Order::forward, Correction::by_later_steps);
    };
    const Vector two = every(1, "delta_product", pair), one = every(1, "delta_net", pair);
    points.rounding(units);
    points.obligation("the layer delta_product takes a step at w, then a step at k", two, steps(false))
        .but_not("the step at k first", steps(true));
    points.wrong_system("DeltaNet, the step at k alone", one, steps(false));
  });
}

Claim same_pair() {
  ClaimBuilder c("deltaproduct-same-pair", "003 after Eq 29 (DeltaProduct)");
  c.says("Several gradient steps on the same pair $(k_t, v_t)$ give a new kind of state transition, as the steps of "
         "DeltaProduct do (a reading of \"multiple gradient steps per example\").");
  c.exactly("$I$ gradient steps on the same pair are equivalent to one step of DeltaNet with strength $(1 - (1 - beta "
            "|k|^2)^I) / |k|^2$, so they add nothing to Eq 29.");
  c.because("DeltaProduct itself takes its steps at different keys, which does give a new kind of transition "
            "(deltaproduct_sequence).");
  c.is_refuted(stricter(
      "After Eq 29: 'multiple gradient steps per example $(k_t, v_t)$, which was recently explored by DeltaProduct'.",
      "none",
      "The sentence cites DeltaProduct, whose steps have separate keys; it says nothing about the transition."));
  c.runs({"delta_product", "delta_net"});
  c.takes(one_head_params(point_P), {integer_param("steps", 2, 2, 16, "gradient steps per token, I")});
  c.at({{}, {{"steps", 3}}, {{"steps", 5}}});
  return measure(c, [](Points &points, Seed seed, const Shape &shape, int steps) {
    Sequence s = random_sequence(shape, seed);
    for (double &x : s.k) x *= 0.9;
    s.w.clear(); // every step at k
    const Assignments set{{"householder", number(steps)}};
    const Measured layer = measured("delta_product", s, set);
    const auto as_one_step = [&](auto strength) { // DeltaNet with another write strength
      return stepped(s, [&](const Dense &M, const Dense &k, const Dense &v, int t) {
        return M + strength(s.beta[t], square(k)) * write(v - M * k, k);
      });
    };
    const auto collapsed = [&](double beta, double kk) { return (1 - std::pow(1 - beta * kk, steps)) / kk; };
    const Dense less_I = transition("delta_product", slice_steps(s, 0, 1), set) - Dense::identity(shape.Dk);
    points.rounding(0);
    points.statement("rank of the transition minus I: the number of steps", rank(less_I, 1e-9), steps);
    points
        .obligation("DeltaNet with one step of strength $(1 - (1 - beta |k|^2)^I) / |k|^2$",
                    layer.against(as_one_step(collapsed)))
        .but_not("strength $I beta$", layer.against(as_one_step([&](double beta, double) { return steps * beta; })))
        .but_not("one step fewer", layer.against(as_one_step([&](double beta, double kk) {
          return (1 - std::pow(1 - beta * kk, steps - 1)) / kk;
        })));
    points.wrong_system("DeltaNet with a single step of strength $beta$",
                        measured("delta_net", s).against(as_one_step(collapsed)));
  });
}
} // namespace

std::vector<Claim> vignette_3_several_steps() { return {product_sequence(), same_pair()}; }
} // namespace recollect::theory
