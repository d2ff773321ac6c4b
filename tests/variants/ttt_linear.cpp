// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/mlp_testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(ttt_linear)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Dk = 1, Dv = 3, k = 1, lr = sqrt 6. S_0 = (3,0,-3): norm (1,0,-1) sqrt 1.5. With v_1 = f(k_1) - (1,-2,1) the error
  // is orthogonal to 1 and to norm, so the gradient is the error over sqrt 6: S_1 = (2,2,-4), norm S_1 / sqrt 8. Likewise
  // v_2 = f(k_2) - (1,-1,0), over sqrt 8: S_2 = (2 - r, 2 + r, -4) with r = sqrt(3)/2, norm S_2 / sqrt 8.5. Reads at q
  // = 1 and 2. The norm's epsilon is 1e-6 of variances >= 6.
  const double n0 = std::sqrt(1.5), n1 = 1 / std::sqrt(8.0), r = std::sqrt(3.0) / 2, n2 = 1 / std::sqrt(8.5);
  Sequence s = one_head(2, {1, 2}, {1, 1}, {1 + n0 - 1, 0 + 2, -n0 - 1, 1 + 2 * n1 - 1, 2 * n1 + 1, -4 * n1});
  s.state = {3, 0, -3};
  const Variant &layer = find_variant("ttt_linear");
  Params params = variant_params(layer, {{"minibatch", "1"}});
  params.set("lr", std::sqrt(6.0));
  for (const char *form : {"recurrent", "minibatch"}) {
    const Output out = forward(layer, s, {form, Real::f64, 1, params});
    check_close(out.o, {1 + 2 * n1, 2 * n1, -4 * n1, 2 + (2 - r) * n2, (2 + r) * n2, -4 * n2}, 4e-6);
    check_close(out.state, {2 - r, 2 + r, -4}, 4e-6);
  }
}

BOOST_AUTO_TEST_CASE(
    a_step_descends_its_own_loss) { // the gradient against the difference quotient of 1/2 |f(k; S) - v|^2
  Sequence s = random_sequence({1, 1, 1, 4, 5}, 31);
  s.q = s.k;
  s.beta = {1};
  s.state = find_variant("ttt_linear").initial_state(s.shape, variant_params(find_variant("ttt_linear")));
  const Variant &layer = find_variant("ttt_linear");
  const auto loss = [&](const std::vector<double> &state) { // lr = 0 only reads
    Sequence at = s;
    at.state = state;
    const std::vector<double> o =
        forward(layer, at, {"recurrent", Real::f64, 1, variant_params(layer, {{"lr", "0"}})}).o;
    double sum = 0;
    for (int c = 0; c < 5; ++c) sum += (o[c] - s.v[c]) * (o[c] - s.v[c]) / 2;
    return sum;
  };
  const std::vector<double> after =
      forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"lr", "1"}})}).state;
  const double h = 1e-5;
  for (size_t i = 0; i < s.state.size(); ++i) {
    std::vector<double> up = s.state, down = s.state;
    up[i] += h, down[i] -= h;
    const double slope = (loss(up) - loss(down)) / (2 * h);
    BOOST_TEST(std::fabs(s.state[i] - after[i] - slope) < 1e-8); // h^2 times third derivatives of order 10, and eps/h
  }
}

BOOST_AUTO_TEST_CASE(minibatches_of_one_are_the_layer_and_larger_ones_deviate) {
  check_minibatches(find_variant("ttt_linear"), random_sequence({2, 2, 70, 6, 5}, 32));
}

BOOST_AUTO_TEST_CASE(a_vanishing_step_makes_minibatches_exact_to_second_order) {
  const Sequence s = random_sequence({1, 1, 32, 6, 5}, 33);
  const Variant &layer = find_variant("ttt_linear");
  const auto apart = [&](const char *lr) {
    const Params params = variant_params(layer, {{"lr", lr}});
    return max_difference(forward(layer, s, {"minibatch", Real::f64, 64, params}).state,
                          forward(layer, s, {"recurrent", Real::f64, 1, params}).state);
  };
  const double order = std::log2(apart("2e-4") / apart("1e-4"));
  BOOST_TEST_MESSAGE("halving lr divides the deviation by 2^" << order);
  BOOST_TEST(std::fabs(order - 2) < 0.05);
}

BOOST_AUTO_TEST_CASE(the_norms_epsilon_is_one_in_a_million) {
  // S q = (1e-3, -1e-3): variance 1e-6, so that the norm divides by sqrt(2e-6) and reads (1, -1) / sqrt 2, beside q.
  Sequence s = one_head(1, {1}, {0}, {0, 0});
  s.state = {1e-3, -1e-3};
  const double half = std::sqrt(0.5);
  for (const char *form : {"recurrent", "minibatch"})
    check_close(forward(find_variant("ttt_linear"), s, {form, Real::f64, 1, {}}).o, {1 + half, -half},
                100 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
