// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/attention/attention.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(attention_descriptor)

BOOST_AUTO_TEST_CASE(attention_has_no_state_and_its_cost_grows_with_the_step) {
  const Variant layer = variants::attention_variant();
  const Shape shape{1, 1, 3, 4, 5}; // T, Dk, Dv; the mean step is 2
  BOOST_TEST(layer.state_shape(shape, {}).size() == 0u);
  BOOST_TEST(layer.traits.order_invariant);
  BOOST_TEST(layer.cost.flops.at(shape, {}) == 2 * 2 * (4 + 5)); // q . k and weight times v for each key
  BOOST_TEST(layer.cost.functions.at(shape, {}) == 2);           // one exponential for each key
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
