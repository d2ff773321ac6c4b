// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(delta_momentum)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // C_1 = S_1 = 4 [1,2] = [4,8]; o_1 = 12.
  // Step 2, eta = 0.5: C_2 = [2,4] + 6 [1,-1] = [8,-2]; S_1 k_2 = -4, S_2 = [4,8] + 4 [1,-1] + [8,-2] = [16,2]; o_2
  // = 50.
  const Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 6});
  const Variant &variant = find_variant("delta_momentum");
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(variant, s, {form, Real::f64, 2, variant_params(variant, {{"eta", "0.5"}})});
    check_close(out.o, {12, 50}, 0);
    check_close(out.state, {16, 2, 8, -2}, 0);
  }
}

BOOST_AUTO_TEST_CASE(a_momentum_of_its_own_every_step_by_hand) {
  // eta = 1/2 and alpha = 1, 1/2, 1, 0, so that C is kept by 1/2, 1/4, 1/2, 0. From S = 8, C = 4:
  // step 1, k = 1, v = 2: C = 2 + 2 = 4, S = 8 - 8 + 4 = 4;    step 2, k = 1, v = 3: C = 1 + 3 = 4, S = 4;
  // step 3, k = 2, v = 1: C = 2 + 2 = 4, S = 4 - 16 + 4 = -8;  step 4, k = -1, v = 5: C = -5, S = -8 + 8 - 5 = -5.
  Sequence s = one_head(4, {1, 2, 1, 3}, {1, 1, 2, -1}, {2, 3, 1, 5});
  s.alpha = {1, 0.5, 1, 0}, s.state = {8, 4};
  const Variant &variant = find_variant("delta_momentum");
  for (int chunk : {1, 2, 3, 4})
    for (const char *form : {"recurrent", "chunked"}) {
      const Output out = forward(variant, s, {form, Real::f64, chunk, variant_params(variant, {{"eta", "0.5"}})});
      check_close(out.o, {4, 8, -8, -15}, 0);
      check_close(out.state, {-5, -5}, 0);
    }
}

BOOST_AUTO_TEST_CASE(without_momentum_it_is_delta_net_with_step_one) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 21);
  s.beta.assign(s.beta.size(), 1);
  const Variant &momentum = find_variant("delta_momentum"), &plain = find_variant("delta_net");
  const Output a = forward(momentum, s, {"recurrent", Real::f64, 1, variant_params(momentum, {{"eta", "0"}})}),
               b = forward(plain, s);
  check_close(a.o, b.o,
              accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * input_condition(plain, s, {}) * max_abs(b.o));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
