// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(delta_product)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // n_h = 2, beta = 0.5. Token 1: at w = [1,0] writes 0.5 * 4, S = [2,0]; at k = [0,2] reads 0, S = [2,4]; o_1 = 6.
  // Token 2: at w = [1,1] reads 6, residual 2, S = [3,5]; at k = [1,-1] reads -2, residual 10, S = [8,0]; o_2 = 24.
  Sequence s = one_head(2, {1, 1, 3, 1}, {0, 2, 1, -1}, {4, 8});
  s.w = {1, 0, 1, 1}, s.beta = {0.5, 0.5};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("delta_product"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {6, 24}, 0);
    check_close(out.state, {8, 0}, 0);
  }
}

BOOST_AUTO_TEST_CASE(one_householder_step_is_delta_net) {
  const Sequence s = random_sequence({2, 2, 70, 9, 5}, 22);
  const Variant &product = find_variant("delta_product");
  for (const char *form : {"recurrent", "chunked"}) {
    const Output a = forward(product, s, {form, Real::f64, 32, variant_params(product, {{"householder", "1"}})});
    const Output b = forward(find_variant("delta_net"), s, {form, Real::f64, 32, {}});
    const double kappa = input_condition(find_variant("delta_net"), s, {});
    BOOST_TEST(deviation(a, b).largest() <= accumulated_terms(s.shape, 32) * epsilon_of(Real::f64) * kappa);
  }
}

BOOST_AUTO_TEST_CASE(repeated_steps_at_one_key_are_one_longer_step) {
  // 003 Eq 26-28 without w: n_h steps at a unit key leave (1 - beta)^n_h of the old value,
  // as one step of 1 - (1 - beta)^n_h does.
  Sequence s = random_sequence({1, 2, 40, 7, 4}, 23);
  s.w.clear();
  const Variant &product = find_variant("delta_product"), &plain = find_variant("delta_net");
  const Output a = forward(product, s, {"chunked", Real::f64, 16, variant_params(product, {{"householder", "3"}})});
  for (double &beta : s.beta) beta = 1 - std::pow(1 - beta, 3);
  const double bound = 3 * accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * input_condition(plain, s, {});
  BOOST_TEST(deviation(a, forward(plain, s)).largest() <= bound);
}

BOOST_AUTO_TEST_CASE(two_householder_steps_rotate) {
  // beta = 2 at two unit keys with an angle of 45 degrees and v = 0: the row of the state turns by 90 degrees.
  Sequence s = one_head(1, {1, 0}, {1, 0}, {0});
  s.w = {std::sqrt(0.5), std::sqrt(0.5)}, s.beta = {2}, s.state = {3, 4};
  check_close(forward(find_variant("delta_product"), s).state, {4, -3}, 16 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
