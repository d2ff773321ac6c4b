// SPDX-License-Identifier: Apache-2.0
#include "tests/gates.hpp"
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(rwkv6)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // u = 2: o_1 = 0 + 2*3, S_1 = 3; o_2 = 3 + 2*5 (S_1 not yet decayed), S_2 = 0.5*3 + 5.
  Sequence s = one_head(2, {1, 1}, {1, 1}, {3, 5});
  s.lambda = {0.25, 0.5};
  const Variant &variant = find_variant("rwkv6");
  const Output out = forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, {{"u", "2"}})});
  check_close(out.o, {6, 13}, 0);
  check_close(out.state, {6.5}, 0);
  s.w = {2, 3}; // in place of the parameter: o_2 = 3 + 3*5
  check_close(forward(variant, s).o, {6, 18}, 0);
}

BOOST_AUTO_TEST_CASE(gates_and_bonus_of_one_are_linear_attention) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  s.lambda.assign(s.lambda.size(), 1), s.alpha.clear(), s.w.clear();
  check_reduction("rwkv6", s, "linear", s);
}

BOOST_AUTO_TEST_CASE(harsh_gates_cost_no_digits) { // the bound is that of gated_linear's test
  const Variant &variant = find_variant("rwkv6");
  Sequence s = positive_sequence({1, 1, 300, 9, 5});
  s.lambda = harsh_gates(s.lambda.size()), s.alpha.clear(), s.w.clear();
  const Output reference = forward(variant, s);
  for (Real real : {Real::f32, Real::f64})
    for (int C : {1, 16, 17, 64, 300}) {
      const Output fast = forward(variant, s, {"chunked", real, C, {}});
      const double bound = (4 * 300 + 9) * epsilon_of(real);
      BOOST_TEST(largest_relative_error(fast.o, reference.o) <= bound);
      BOOST_TEST(largest_relative_error(fast.state, reference.state) <= bound);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
