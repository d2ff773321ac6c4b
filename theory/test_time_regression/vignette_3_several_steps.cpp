// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3 after Eq 29: several gradient steps per token (DeltaProduct).
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {

std::vector<ParamSpec> with(std::vector<ParamSpec> params, const ParamSpec &more) {
  params.push_back(more);
  return params;
}

/// The steps of one token at a time: M_t = M_{t-1} H_1 ... H_n + sum_j beta_j v_j k_j^T H_{j+1} ... H_n, H_j = I -
/// beta_j k_j k_j^T. s holds n steps per token.
enum class Order { forward, reversed };
enum class Correction { by_later_steps, none };
std::vector<double> token_by_token(const Sequence &s, int n, Order order, Correction correction) {
  Dense M(s.shape.Dv, s.shape.Dk);
  std::vector<double> memories;
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
std::vector<double> every(int n, const std::string &variant, const Sequence &s) {
  std::vector<double> memories;
  for (int t = n; t <= s.shape.T; t += n) {
    const std::vector<double> state = run(variant, slice_steps(s, 0, t)).state;
    memories.insert(memories.end(), state.begin(), state.end());
  }
  return memories;
}
int rank(const Dense &m) {
  int n = 0;
  for (double s : singular_values(m)) n += s > 1e-9;
  return n;
}

std::vector<Point> product_sequence(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {params_of(point_P).set("n", 2), params_of(point_P).set("n", 3)})) {
    const int n = p.integer("n");
    const Shape shape = shape_of(p);
    if (n >= shape.Dk) usage_error("n independent keys a token need n < Dk");
    const Sequence s = random_sequence({1, 1, n * shape.T, shape.Dk, shape.Dv}, protocol.seed);
    const std::vector<double> layer = every(n, "delta_net", s);
    const double units = 4 * rounding_units("delta_net", s);
    const auto is = [&](const std::vector<double> &memories) { return exact_point(layer, memories, units); };
    points.push_back(as_statement(is(token_by_token(s, n, Order::forward, Correction::by_later_steps)), p,
                                  "n steps of DeltaNet are one step with a product of n factors"));
    points.push_back(rival_system(
        exact_point(every(n, "linear", s), token_by_token(s, n, Order::forward, Correction::by_later_steps), units), p,
        "linear attention"));
    points.push_back(rival_law(is(token_by_token(s, n, Order::reversed, Correction::by_later_steps)), p,
                               "the factors in reverse order"));
    points.push_back(rival_law(is(token_by_token(s, n, Order::forward, Correction::none)), p,
                               "writes not corrected by the later factors"));
    // The transition is read off S = I under writes of 0.
    Sequence still = slice_steps(s, 0, n);
    still.shape.Dv = shape.Dk, still.v.assign(n * shape.Dk, 0), still.state = Dense::identity(shape.Dk).data;
    const Dense I = Dense::identity(shape.Dk), A(shape.Dk, shape.Dk, run("delta_net", still).state);
    const Point moved = as_statement(exact_point(rank(A - I), n, 0), p, "rank of the transition less I");
    points.push_back(moved);
    points.push_back(rival_law(moved, "1, as for one step", 1));
    // The layer DeltaProduct, two keys per token (w, then k) with one value and one strength.
    const Sequence pair = random_sequence(shape, protocol.seed);
    Sequence expanded = random_sequence({1, 1, 2 * shape.T, shape.Dk, shape.Dv}, protocol.seed);
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
    const std::vector<double> two = every(1, "delta_product", pair), one = every(1, "delta_net", pair);
    points.push_back(
        as_obligation(exact_point(two, steps(false), units), p, "the layer delta_product at w, then at k"));
    points.push_back(rival_system(exact_point(one, steps(false), units), p, "the step at k alone"));
    points.push_back(rival_law(exact_point(two, steps(true), units), p, "the step at k first"));
  }
  return points;
}

Claim product_claim() {
  return explained(
      at_parameters(
          running(ledger_row(
                      "deltaproduct-sequence", "003 after Eq 29 (DeltaProduct, named only)",
                      "Taking several gradient steps a token, each with its own key, value and step size, extends Eq "
                      "29: $n_h$ steps of DeltaNet.",
                      "$M H_1 ... H_n + sum_j beta_j v_j k_j^T H_{j+1} ... H_n$ with $H_j = I - beta_j k_j k_j^T$: a "
                      "transition that differs from $I$ by rank $n_h$.",
                      product_sequence),
                  {"delta_net", "delta_product", "linear"}),
          with(one_head_params(point_P), integer_param("n", 2, 2, 8, "steps a token"))),
      "Derived here; the paper gives no equation.");
}

std::vector<Point> same_pair(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {params_of(point_P).set("steps", 2), params_of(point_P).set("steps", 3),
                                              params_of(point_P).set("steps", 5)})) {
    const int steps = p.integer("steps");
    Sequence s = random_sequence(shape_of(p), protocol.seed);
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
    Sequence still = slice_steps(s, 0, 1);
    const int Dk = s.shape.Dk;
    still.shape.Dv = Dk, still.v.assign(Dk, 0), still.state = Dense::identity(Dk).data;
    const Dense A(Dk, Dk, run("delta_product", still, set).state);
    points.push_back(as_statement(exact_point(rank(A - Dense::identity(Dk)), steps, 0), p,
                                  "a new transition: rank of it less I, one for each step"));
    points.push_back(as_obligation(layer.against(as_one_step(collapsed)), p,
                                   "one step of strength (1 - (1 - beta |k|^2)^I) / |k|^2"));
    points.push_back(rival_system(measured("delta_net", s).against(as_one_step(collapsed)), p, "a single step"));
    points.push_back(
        rival_law(layer.against(as_one_step([&](double beta, double) { return steps * beta; })), p, "strength I beta"));
    points.push_back(rival_law(layer.against(as_one_step([&](double beta, double kk) {
      return (1 - std::pow(1 - beta * kk, steps - 1)) / kk;
    })),
                               p, "one step fewer"));
  }
  return points;
}

Claim same_pair_claim() {
  return explained(
      at_parameters(
          running(refuted_row(
                      "deltaproduct-same-pair",
                      stricter("After Eq 29: 'multiple gradient steps per example $(k_t, v_t)$, which was recently "
                               "explored by DeltaProduct'.",
                               "none",
                               "It cites DeltaProduct, whose steps have keys of their own; no transition is claimed."),
                      "003 after Eq 29 (DeltaProduct)",
                      "Several gradient steps on the same pair (k_t, v_t) give a state transition of their "
                      "own, as DeltaProduct does (a reading of \"multiple gradient steps per example\").",
                      "They collapse to one step of DeltaNet with strength $(1 - (1 - beta |k|^2)^I) / |k|^2$: "
                      "nothing that Eq 29 could not do.",
                      same_pair),
                  {"delta_product", "delta_net"}),
          with(one_head_params(point_P), integer_param("steps", 2, 2, 16, "gradient steps a token, I"))),
      "DeltaProduct itself takes its steps at different keys, which does add something (deltaproduct_sequence).");
}

} // namespace

std::vector<Claim> vignette_3_several_steps() { return {product_claim(), same_pair_claim()}; }

} // namespace recollect::theory
