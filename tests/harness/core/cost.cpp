// SPDX-License-Identifier: Apache-2.0
#include "harness/core/cost.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(cost)

BOOST_AUTO_TEST_CASE(formulas_are_read_as_they_are_written) {
  const std::map<std::string, double> values{{"Dk", 3}, {"Dv", 5}, {"t", 2}, {"n_1", 7}};
  BOOST_TEST(evaluate("4 Dv Dk", values) == 60);
  BOOST_TEST(evaluate("4 Dv Dk + 3 Dk^2 + Dk^3 / 3", values) == 60 + 27 + 9);
  BOOST_TEST(evaluate("2 Dk t / 4 + 2 (Dk + Dv) (Dv - 1)", values) == 3 + 64);
  BOOST_TEST(evaluate("2 sqrt(n_1 + 2)", values) == 6);
  for (const char *wrong : {"4 Dx", "(Dk", "Dk Dv )", "", "2 +"})
    BOOST_CHECK_THROW(evaluate(wrong, values), std::logic_error);
}

BOOST_AUTO_TEST_CASE(every_layer_has_a_cost_and_a_state) {
  const Shape small{1, 1, 16, 8, 8}, wide{1, 1, 16, 32, 32};
  for (const Variant &v : all_variants()) BOOST_TEST_CONTEXT(v.name) {
      const Params params = variant_params(v);
      BOOST_TEST(flops_a_token(v, small, params) >= 4 * 8); // it at least reads one row of values
      BOOST_TEST(flops_a_token(v, wide, params) > flops_a_token(v, small, params));
      BOOST_TEST(state_bytes(v, small, params, Real::f64) == 2 * state_bytes(v, small, params, Real::f32));
    }
  const Variant &linear = find_variant("linear"), &softmax = find_variant("softmax");
  BOOST_TEST(flops_a_token(linear, small, variant_params(linear)) == 4 * 64);
  BOOST_TEST(state_bytes(linear, small, variant_params(linear), Real::f64) == 8 * 64);
  BOOST_TEST(state_bytes(softmax, small, variant_params(softmax), Real::f64) == 8 * 16 * 16); // every pair is kept
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
