// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(power_attention)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Weights are squares: o_1 = 2^2 * 3, o_2 = 0.5 * (1 + 1)^2 * 3 + (1 - 3)^2 * 5, q_2 = [1,1].
  Sequence s = one_head(2, {2, 0, 1, 1}, {1, 1, 1, -3}, {3, 5});
  s.alpha = {0.25, 0.5};
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("power_attention"), s, {form, Real::f64, 2, {}}).o, {12, 26},
                32 * epsilon_of(Real::f64) * 26);
}

BOOST_AUTO_TEST_CASE(its_features_multiply_to_the_power) {
  const std::vector<double> x{1, -2, 0.5}, y{3, 1, 4}; // x . y = 3
  const int counts[] = {3, 6, 10, 15, 21, 28};         // binomial(3 + p - 1, p)
  for (int p = 1; p <= 6; ++p) {
    const Assignments degree{{"degree", std::to_string(p)}};
    const Run run{"recurrent", Real::f64, 1, variant_params(find_variant("power_attention"), degree)};
    const auto features = [&](const std::vector<double> &key) { // what v = 1 writes
      return forward(find_variant("power_attention"), one_head(1, key, key, {1}), run).state;
    };
    const std::vector<double> phi_x = features(x), phi_y = features(y);
    double product = 0;
    for (size_t i = 0; i < phi_x.size(); ++i) product += phi_x[i] * phi_y[i];
    BOOST_TEST(phi_x.size() == size_t(counts[p - 1]));
    BOOST_TEST(std::fabs(product - std::pow(3, p)) <= 1e-12 * std::pow(13, p));
  }
}

BOOST_AUTO_TEST_CASE(of_degree_1_it_is_gated_linear_attention) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 61);
  s.beta.clear();
  check_reduction("mamba2", s, "power_attention", s, {}, {{"degree", "1"}});
  s.alpha.clear();
  check_reduction("linear", s, "power_attention", s, {}, {{"degree", "1"}});
}

BOOST_AUTO_TEST_CASE(its_forms_and_gradients_agree_at_other_degrees, *boost::unit_test::precondition(tape_runs)) {
  const Variant &layer = find_variant("power_attention");
  for (const char *degree : {"1", "3", "4"}) {
    const Params params = variant_params(layer, {{"degree", degree}, {"scale", "0.5"}});
    const Sequence s = random_sequence({1, 2, 19, 5, 3}, 62);
    const Output one = forward(layer, s, {"recurrent", Real::f64, 1, params}),
                 other = forward(layer, s, {"chunked", Real::f64, 8, params});
    BOOST_TEST(deviation(other, one).largest() <=
               accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * input_condition(layer, s, params, 2));
    const OutputWeights weights{Stream(62, "do").normals(s.v.size()), {}};
    const Sequence found = backward(layer, s, {"chunked", Real::f64, 8, params}, weights);
    const Sequence wanted = gradient(layer, s, params, weights);
    const double bound = accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * input_condition(layer, s, params, 2);
    for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::alpha})
      check_close(found[tensor], wanted[tensor], bound * max_abs(wanted[tensor]));
  }
}

BOOST_AUTO_TEST_CASE(a_state_of_too_many_features_is_refused) {
  const Variant &layer = find_variant("power_attention");
  BOOST_TEST(layer.unsuitable({1, 1, 1, 64, 64}, variant_params(layer, {{"degree", "4"}})).empty());
  BOOST_TEST(!layer.unsuitable({1, 1, 1, 128, 64}, variant_params(layer, {{"degree", "4"}})).empty());
  BOOST_TEST(!layer.unsuitable({1, 1, 1, 4096, 64}, variant_params(layer, {{"degree", "6"}})).empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
