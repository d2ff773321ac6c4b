// SPDX-License-Identifier: Apache-2.0
#include "harness/call/layer_inputs.hpp"
#include "harness/call/in_convention.hpp"
#include "harness/call/packed.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(layer_input)

using Numbers = std::vector<double>;

/// One step of one head of width one, plus `more` arrays.
UsersArrays one_step(UsersArrays more) {
  for (const char *name : {"q", "k", "v"}) more.insert({name, {{1, 1, 1, 1}, {1}, ""}});
  return more;
}
LayerInputs inputs_of(const UsersArrays &user, const char *layer, const Convention &c) {
  const Variant &variant = find_variant(layer);
  return to_layer(user, variant, variant_params(variant), c, false);
}

BOOST_AUTO_TEST_CASE(the_step_of_mamba_is_the_write_strength_too) {
  Convention c;
  c.gate = Gate::mamba;
  const LayerInputs inputs =
      inputs_of(one_step({{"alpha", {{1, 1, 1}, {0.5}, ""}}, {"A", {{1}, {-2}, ""}}}), "mamba2", c);
  BOOST_TEST((inputs.all.beta == Numbers{0.5}));
  const LayerInputs biased =
      inputs_of(one_step({{"alpha", {{1, 1, 1}, {0.5}, ""}}, {"A", {{1}, {-2}, ""}}, {"dt_bias", {{1}, {-0.5}, ""}}}),
                "mamba2", c); // dt = softplus(0)
  check_close(biased.all.beta, {std::log(2)}, 1e-15);
  check_close(biased.all.alpha, {0.25}, 1e-15);
}

BOOST_AUTO_TEST_CASE(rows_are_normalised_and_q_is_scaled) {
  UsersArrays user{
      {"q", {{1, 1, 1, 4}, {3, 4, 0, 0}, ""}}, {"k", {{1, 1, 1, 4}, {0, 0, 0, 0}, ""}}, {"v", {{1, 1, 1, 1}, {1}, ""}}};
  Convention c;
  c.l2norm = 11; // 9 + 16 + 11 = 6^2
  c.scale = {Scale::rsqrt, 1};
  const LayerInputs delta = inputs_of(user, "delta_former", c); // its own parameter is the scale
  check_close(delta.all.q, {0.5, 2.0 / 3, 0, 0}, 1e-15);
  BOOST_TEST(delta.params.real("scale") == 0.5);
  user["beta"] = {{1, 1, 1}, {1}, ""};
  const LayerInputs net = inputs_of(user, "delta_net", c); // it has no scale
  check_close(net.all.q, {0.25, 1.0 / 3, 0, 0}, 1e-15);
  BOOST_TEST((net.all.k == Numbers{0, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(head_i_of_the_result_uses_head_i_over_n) {
  const UsersArrays user{
      {"q", {{1, 2, 1, 1}, {1, 2}, ""}}, {"k", {{1, 2, 1, 1}, {3, 4}, ""}}, {"v", {{1, 4, 1, 1}, {5, 6, 7, 8}, ""}}};
  Convention c;
  BOOST_TEST((sequence_of(inputs_of(user, "linear", c), 0).q == Numbers{1, 1, 2, 2}));
  c.heads_interleaved = true;
  BOOST_TEST((inputs_of(user, "linear", c).all.q == Numbers{1, 2, 1, 2}));
  BOOST_TEST((inputs_of({{"q", user.at("v")}, {"k", user.at("q")}, {"v", user.at("k")}}, "linear", {}).all.v ==
              Numbers{3, 3, 4, 4}));
}

BOOST_AUTO_TEST_CASE(gradients_of_shared_heads_are_sums) {
  const UsersArrays user{
      {"q", {{1, 2, 1, 1}, {1, 2}, ""}}, {"k", {{1, 1, 1, 1}, {3}, ""}}, {"v", {{1, 4, 1, 1}, {5, 6, 7, 8}, ""}}};
  const LayerInputs inputs = inputs_of(user, "linear", {});
  TextResults results;
  results.output = {{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 1}};
  results.gradient.q = {1, 10, 100, 1000}, results.gradient.k = {1, 2, 3, 4}, results.gradient.v = {5, 6, 7, 8};
  const UsersArrays found = to_user(user, inputs, {}, {results});
  BOOST_TEST((found.at("dq").data == Numbers{11, 1100} && found.at("dq").dims == Dims{1, 2, 1, 1}));
  BOOST_TEST((found.at("dk").data == Numbers{10} && found.at("dv").data == Numbers{5, 6, 7, 8}));
}

/// A layer, its arrays in a convention, and a loss with the output gradients `do` and `dfinal_state`.
struct Differentiated {
  const Variant &variant;
  Convention c;
  UsersArrays user;
  Params params = variant_params(variant);

  double loss(const UsersArrays &at) const {
    const LayerInputs inputs = to_layer(at, variant, params, c, true);
    std::vector<TextResults> results;
    for (size_t text = 0; text < inputs.texts.size(); ++text) {
      Run run{"recurrent", Real::f64, 1, inputs.params};
      results.push_back(inputs.texts[text].empty() ? results_of_empty(inputs, variant, text)
                                                   : TextResults{forward(variant, sequence_of(inputs, text), run), {}});
    }
    const UsersArrays found = to_user(at, inputs, c, results);
    double sum = 0;
    const auto add = [&](const char *result, const char *weights) {
      for (size_t i = 0; at.count(weights) && i < at.at(weights).data.size(); ++i)
        sum += at.at(weights).data[i] * found.at(result).data[i];
    };
    add("o", "do"), add("final_state", "dfinal_state");
    return sum;
  }
  UsersArrays gradient_here() const {
    const LayerInputs inputs = to_layer(user, variant, params, c, true);
    std::vector<TextResults> results;
    for (size_t text = 0; text < inputs.texts.size(); ++text) {
      if (inputs.texts[text].empty()) {
        results.push_back(results_of_empty(inputs, variant, text));
        continue;
      }
      const Sequence one = sequence_of(inputs, text);
      Sequence found = gradient(variant, one, inputs.params, weights_of(inputs, text));
      if (c.log_gates()) in_logarithms(found, one);
      results.push_back({forward(variant, one, {"recurrent", Real::f64, 1, inputs.params}), found});
    }
    return to_user(user, inputs, c, results);
  }
};

Differentiated drawn(const char *layer, const Convention &c, const Sharing &sharing, bool by_channel = false) {
  const Variant &variant = find_variant(layer);
  const int texts = sharing.cu_seqlens.empty() ? 1 : int(sharing.cu_seqlens.size()) - 1;
  Sequence s = random_sequence({1, 4, 7, 3, 2}, 1);
  for (Tensor tensor : {Tensor::beta, Tensor::alpha, Tensor::lambda, Tensor::w}) {
    const bool taken = std::any_of(variant.inputs.begin(), variant.inputs.end(),
                                   [&](const Input &input) { return input.tensor() == tensor; });
    if (!taken || (by_channel && tensor == Tensor::alpha)) s[tensor].clear();
  }
  const StateShape state = variant.state_shape(s.shape, variant_params(variant));
  const size_t states = size_t(texts) * 4 * state.size();
  s.state = Stream(2, "state").normals(states);
  const OutputWeights weights{Stream(3, "do").normals(s.v.size()), Stream(4, "dstate").normals(states)};
  return {variant, c, in_convention(s, weights, state, c, sharing, 5)};
}

/// Compares every gradient along a random direction with a central difference: h^2 |third derivative| and eps |loss| /
/// h are below 1e-7 for h = 1e-5.
void check_against_quotients(const Differentiated &d, const std::vector<std::string> &arrays) {
  const UsersArrays found = d.gradient_here();
  constexpr double h = 1e-5;
  for (const std::string &name : arrays) {
    BOOST_TEST_REQUIRE((d.user.count(name) == 1 && found.count("d" + name) == 1), name);
    const Numbers direction = Stream(6, name).normals(d.user.at(name).data.size());
    UsersArrays up = d.user, down = d.user;
    double slope = 0;
    for (size_t i = 0; i < direction.size(); ++i) {
      up[name].data[i] += h * direction[i], down[name].data[i] -= h * direction[i];
      slope += found.at("d" + name).data[i] * direction[i];
    }
    const double quotient = (d.loss(up) - d.loss(down)) / (2 * h);
    BOOST_TEST(std::fabs(slope - quotient) < 1e-6 * (1 + std::fabs(slope)), name << ": " << slope << ", " << quotient);
    BOOST_TEST(std::fabs(slope) > 1e-4, name);
  }
}

BOOST_AUTO_TEST_CASE(gradients_through_every_convention_are_slopes) {
  if (!takes_gradients()) return;
  const std::vector<std::string> delta{"q", "k", "v", "beta", "alpha", "state"};
  for (Gate gate : {Gate::factor, Gate::log, Gate::log2, Gate::gdn, Gate::kda_lb, Gate::rwkv})
    for (Strength strength : {Strength::factor, Strength::doubled, Strength::sigmoid, Strength::sigmoid_double}) {
      if (gate != Gate::log && strength != Strength::sigmoid) continue;
      BOOST_TEST_CONTEXT(name_of(gate) << ", " << name_of(strength)) {
        Convention c;
        c.gate = gate, c.strength = strength, c.scale = {Scale::rsqrt, 1}, c.l2norm = 1e-6;
        Sharing grouped;
        grouped.q_heads = grouped.k_heads = 2, grouped.cu_seqlens = {0, 3, 3, 6};
        std::vector<std::string> arrays = delta;
        if (gate == Gate::gdn || gate == Gate::kda_lb) arrays.insert(arrays.end(), {"A_log", "dt_bias"});
        check_against_quotients(drawn("gated_delta_net", c, grouped), arrays);
      }
    }
}

BOOST_AUTO_TEST_CASE(gradients_of_channels_heads_and_steps_are_slopes) {
  if (!takes_gradients()) return;
  Convention c;
  c.gate = Gate::kda;
  check_against_quotients(drawn("gated_linear", c, {}, true), {"q", "k", "v", "lambda", "A_log", "dt_bias", "state"});
  c.gate = Gate::mamba;
  Sharing shared;
  shared.k_heads = shared.q_heads = 1;
  Differentiated mamba = drawn("mamba2", c, shared);
  check_against_quotients(mamba, {"q", "k", "v", "alpha", "A", "state"});
  mamba.user["dt_bias"] = {{4}, {-1, -0.5, 0, 0.5}, ""};
  check_against_quotients(mamba, {"q", "alpha", "A", "dt_bias"});
  c = {};
  c.gate = Gate::log;
  shared = {};
  shared.k_heads = shared.v_heads = 2;
  Differentiated d = drawn("gated_linear", c, shared);
  d.user.erase("alpha"), d.user.erase("lambda");
  d.user["gamma"] = {{2}, {-0.1, -0.3}, ""};
  check_against_quotients(d, {"q", "k", "v", "gamma", "state"});
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_go_together_are_refused) {
  const UsersArray three{{1, 3, 2, 1}, Numbers(6, 0.5), "heads_of_three"}, two{{1, 2, 2, 1}, Numbers(4, 0.5), "q"};
  const auto refused = [&](const UsersArrays &user, const std::string &what) {
    BOOST_CHECK_EXCEPTION(inputs_of(user, "linear", {}), Error, [&](const Error &e) {
      BOOST_TEST_INFO(e.what());
      return std::string(e.what()).find(what) != std::string::npos;
    });
  };
  refused({{"q", two}, {"v", two}}, "dataset k is absent");
  refused({{"q", two}, {"k", two}, {"v", three}}, "has 2 heads, which do not divide the 3 heads");
  UsersArrays user{{"q", two}, {"k", two}, {"v", two}};
  user["cu_seqlens"] = {{3}, {0, 2, 1}, ""};
  refused(user, "cu_seqlens holds 1 after 2");
  user["cu_seqlens"] = {{2}, {0, 3}, ""};
  refused(user, "up to T = 2");
  user["cu_seqlens"] = {{3}, {0, 1, 2}, ""};
  user["state"] = {{1, 2, 1, 1}, {1, 1}, ""};
  refused(user, "dataset state has shape [1,2,1,1], needs [2,2,1,1]");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
