// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(softmax)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Dk = 4, so scale = 1/2. o_1 = v_1. Step 2: logits q_2.k_1 / 2 = ln 3, q_2.k_2 / 2 = 0; weights 3/4 and 1/4.
  const double log9 = std::log(9.0);
  const Sequence s = one_head(2, {1, 1, 1, 1, log9, 0, 0, 0}, {1, 0, 0, 0, 0, 1, 0, 0}, {8, 4});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("softmax"), s, {form, Real::f64, 64, {}}).o, {8, 7}, 4e-15);
}

BOOST_AUTO_TEST_CASE(large_logits_do_not_overflow) {
  // Logits of 2000 and 1000 in float: the weights are 1 and exp(-1000) = 0.
  Sequence s = one_head(2, {1, 1}, {2000, 1000}, {3, 5});
  const Params params = variant_params(find_variant("softmax"), {{"scale", "1"}});
  for (const char *form : {"recurrent", "parallel"})
    for (int C : {1, 2}) check_close(forward(find_variant("softmax"), s, {form, Real::f32, C, params}).o, {3, 3}, 0);
}

BOOST_AUTO_TEST_CASE(the_largest_logit_outlives_its_tile) {
  // Logits 2000, 1900, ... over four tiles of at least two keys: with the last tile's maximum, exp(100) squared would
  // overflow.
  std::vector<double> q(8, 1), k, v;
  for (int i = 0; i < 8; ++i) k.push_back(2000 - 100 * i), v.push_back(i + 3);
  const Params params = variant_params(find_variant("softmax"), {{"scale", "1"}});
  for (int C : {1, 2, 3})
    check_close(forward(find_variant("softmax"), one_head(8, q, k, v), {"parallel", Real::f32, C, params}).o,
                std::vector<double>(8, 3), 0);
}

BOOST_AUTO_TEST_CASE(groups_of_many_heads_equal_the_definition) {
  const Variant &softmax = find_variant("softmax");
  const Sequence s = random_sequence({5, 31, 33, 8, 3}, 3); // 155 heads are more than one group at C = 64
  const Output reference = forward(softmax, s);
  const double bound =
      accumulated_terms(s.shape, 64) * epsilon_of(Real::f64) * input_condition(softmax, s, variant_params(softmax), 1);
  BOOST_TEST(deviation(forward(softmax, s, {"parallel", Real::f64, 64, {}}), reference).largest() <= bound);
}

BOOST_AUTO_TEST_CASE(keys_laid_by_columns_for_many_blocks_of_queries_are_the_same_keys) {
  const Variant &softmax = find_variant("softmax");
  const Sequence s = random_sequence({1, 2, 70, 9, 3}, 4); // four or more blocks of queries; the last of keys is short
  const Output reference = forward(softmax, s);
  for (int C : {4, 8, 16}) {
    const double bound =
        accumulated_terms(s.shape, C) * epsilon_of(Real::f64) * input_condition(softmax, s, variant_params(softmax), 1);
    BOOST_TEST(deviation(forward(softmax, s, {"parallel", Real::f64, C, {}}), reference).largest() <= bound, "C " << C);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
