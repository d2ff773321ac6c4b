// SPDX-License-Identifier: Apache-2.0
#include "harness/call/fused.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(fused)

using Numbers = std::vector<double>;

Convention with_gate(Gate gate) {
  Convention c;
  c.gate = gate;
  return c;
}

BOOST_AUTO_TEST_CASE(rows_are_divided_by_their_norm) {
  Numbers rows{3, 4, 0, 0};
  normalise(rows, 2, 11, 2); // 9 + 16 + 11 = 6^2
  check_close(rows, {1, 4.0 / 3, 0, 0}, 1e-15);
  Numbers gradient{1, 0, 1, 1};
  normalise_back(gradient, {3, 4, 0, 0}, 2, 11, 2); // 2 (g - x (x g) / 36) / 6; without x, 2 g / sqrt(11)
  check_close(gradient, {0.25, -1.0 / 9, 2 / std::sqrt(11), 2 / std::sqrt(11)}, 1e-15);
  rows = {3, 0, 0};
  normalise(rows, 3, {}, 0.5);
  BOOST_TEST((rows == Numbers{1.5, 0, 0}));
  rows = {3, 4, 0, 0}, gradient = {1, 0, 1, 1};
  normalise_back(gradient, rows, 2, 0, 1), normalise(rows, 2, 0, 1);
  check_close(rows, {0.6, 0.8, 0, 0}, 1e-15);                    // a row of zeros has no direction
  check_close(gradient, {16.0 / 125, -12.0 / 125, 0, 0}, 1e-15); // (g - x (x g) / 25) / 5
}

BOOST_AUTO_TEST_CASE(every_gate_is_its_formula) {
  const auto decay = [](Gate gate, double x, UsersArrays user) {
    user["alpha"] = {{1, 1, 1}, {x}, ""};
    return decays_in(user, Tensor::alpha, {1, 1, 1, 1, 1}, with_gate(gate)).at(0);
  };
  const auto parameters = [](double A_log, double bias) {
    return UsersArrays{{"A_log", {{1}, {A_log}, ""}}, {"dt_bias", {{1}, {bias}, ""}}};
  };
  const auto close = [](double a, double b) { BOOST_TEST(std::fabs(a - b) < 1e-15, a << " and " << b); };
  close(decay(Gate::factor, 0.25, {}), 0.25);
  close(decay(Gate::log, -1, {}), std::exp(-1.0));
  close(decay(Gate::log2, -2, {}), 0.25);
  close(decay(Gate::rwkv, 0, {}), std::exp(-1.0));
  close(decay(Gate::gdn, 0, parameters(0, 0)), 0.5);               // softplus(0) = log 2
  close(decay(Gate::gdn, 1, parameters(std::log(2), -1)), 0.25);   // twice as fast
  close(decay(Gate::kda, 0, {{"A_log", {{1}, {0}, ""}}}), 0.5);    // without dt_bias
  close(decay(Gate::kda_lb, 0, parameters(0, 0)), std::exp(-2.5)); // -5 sigmoid(0)
  close(decay(Gate::mamba, 0.5, {{"A", {{1}, {-2}, ""}}}), std::exp(-1.0));
}

BOOST_AUTO_TEST_CASE(gates_have_parameters_by_head_and_by_channel) {
  // Two heads of one step and two channels: g = -exp(A_log) softplus(0), and half of -exp(A_log) is its slope.
  const UsersArrays user{{"lambda", {{1, 2, 1, 2}, {1, 2, 3, 4}, ""}},
                         {"A_log", {{2}, {0, std::log(2)}, ""}},
                         {"dt_bias", {{2, 2}, {-1, -2, -3, -4}, ""}}};
  const Shape shape{1, 2, 1, 2, 1};
  check_close(decays_in(user, Tensor::lambda, shape, with_gate(Gate::kda)), {0.5, 0.5, 0.25, 0.25}, 1e-15);
  UsersArrays found;
  add_gate_gradients(found, user, Tensor::lambda, {1, 2, 3, 4}, {}, shape, with_gate(Gate::kda));
  check_close(found.at("dlambda").data, {-0.5, -1, -3, -4}, 1e-15);
  check_close(found.at("ddt_bias").data, {-0.5, -1, -3, -4}, 1e-15);
  check_close(found.at("dA_log").data, {-3 * std::log(2), -14 * std::log(2)}, 1e-14);
  BOOST_TEST((found.at("ddt_bias").dims == Dims{2, 2} && found.at("dA_log").dims == Dims{2}));
}

BOOST_AUTO_TEST_CASE(the_step_of_mamba_has_both_gradients) {
  const UsersArrays user{{"alpha", {{1, 1, 2}, {0.5, 2}, ""}}, {"A", {{1}, {-2}, ""}}};
  const Shape shape{1, 1, 2, 1, 1};
  BOOST_TEST((strengths_in(user, Tensor::alpha, shape, with_gate(Gate::mamba)) == Numbers{0.5, 2}));
  UsersArrays found;
  add_gate_gradients(found, user, Tensor::alpha, {3, 1}, {5, 7}, shape, with_gate(Gate::mamba));
  BOOST_TEST((found.at("dalpha").data == Numbers{3 * -2 + 5, 1 * -2 + 7}));
  BOOST_TEST((found.at("dA").data == Numbers{3 * 0.5 + 1 * 2}));
  BOOST_TEST(found.count("ddt_bias") == 0u);
}

BOOST_AUTO_TEST_CASE(gamma_is_an_alpha_for_all_steps) {
  const UsersArrays user{{"gamma", {{2}, {0.5, 0.25}, ""}}};
  const Shape shape{1, 4, 2, 1, 1};
  BOOST_TEST((alpha_of_gamma(user, shape, {}) == Numbers{0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25}));
  Convention c = with_gate(Gate::log2);
  c.heads_interleaved = true;
  check_close(alpha_of_gamma({{"gamma", {{2}, {-1, -2}, ""}}}, shape, c), {0.5, 0.5, 0.25, 0.25, 0.5, 0.5, 0.25, 0.25},
              1e-15);
  const Numbers by_alpha{1, 2, 3, 4, 5, 6, 7, 8}; // a head: 3, 7, 11, 15
  BOOST_TEST((gradient_of_gamma(user.at("gamma"), by_alpha, shape, {}).data == Numbers{10, 26}));
  check_close(gradient_of_gamma(user.at("gamma"), by_alpha, shape, c).data, {14 * std::log(2), 22 * std::log(2)},
              1e-14);
}

BOOST_AUTO_TEST_CASE(the_skip_term_has_numbers_by_head_or_by_channel) {
  const Shape shape{1, 4, 1, 1, 2};
  const UsersArrays by_head{{"D", {{2}, {1, 2}, ""}}}, by_channel{{"D", {{2, 2}, {1, 2, 3, 4}, ""}}};
  BOOST_TEST((skip_in(by_head, shape, {}) == Numbers{1, 1, 1, 1, 2, 2, 2, 2}));
  BOOST_TEST((skip_in(by_channel, shape, {}) == Numbers{1, 2, 1, 2, 3, 4, 3, 4}));
  Convention c;
  c.heads_interleaved = true;
  BOOST_TEST((skip_in(by_channel, shape, c) == Numbers{1, 2, 3, 4, 1, 2, 3, 4}));
  c.skip_ignored = c.gate_ignored = true;
  BOOST_TEST((skip_in(by_head, shape, c).empty() && skip_in({}, shape, {}).empty()));
  const UsersArrays z{{"z", {{1, 1, 1, 2}, {0, std::log(3)}, ""}}};
  check_close(gate_in(z, {1, 1, 1, 1, 2}, {}), {0, 0.75 * std::log(3)}, 1e-15); // z sigmoid(z)
  BOOST_TEST((gate_in(z, {1, 1, 1, 1, 2}, c).empty() && gate_in({}, shape, {}).empty()));
}

BOOST_AUTO_TEST_CASE(the_output_is_o_and_the_skip_term_times_the_gate) {
  const double z = std::log(3), gate = 0.75 * z, slope = 0.75 * (1 + 0.25 * z); // sigmoid(z) = 3/4
  const UsersArrays user{{"D", {{1}, {10}, ""}}, {"z", {{1, 1, 2, 1}, {z, z}, ""}}, {"do", {{1, 1, 2, 1}, {4, 4}, ""}}};
  LayerInputs inputs;
  inputs.all.shape = {1, 1, 2, 1, 1}, inputs.texts = {{0, 1}}, inputs.all.v = {2, 2};
  inputs.skip = {10}, inputs.gate = {gate, gate}, inputs.weights.o = {4 * gate, 4 * gate};
  UsersArrays found;
  Sequence gradient;
  Numbers o{1, 0};
  gradient.v = {100, 0};
  add_skip_and_gate(found, o, gradient, user, inputs, false);
  check_close(o, {21 * gate, 0}, 1e-14); // no text has step 1
  check_close(gradient.v, {100 + 40 * gate, 0}, 1e-13);
  check_close(found.at("dz").data, {4 * 21 * slope, 0}, 1e-13);
  check_close(found.at("dD").data, {8 * gate}, 1e-14);
  o = {1, 0}, gradient.v = {100, 0};
  add_skip_and_gate(found, o, gradient, user, inputs, true); // errors of o: D v has none
  check_close(o, {gate, 0}, 1e-15);
  BOOST_TEST((gradient.v == Numbers{100, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
