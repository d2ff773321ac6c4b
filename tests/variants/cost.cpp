// SPDX-License-Identifier: Apache-2.0
// A descriptor's cost equals the counted operations of its recurrent form.
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
boost::test_tools::assertion_result work_is_counted(boost::unit_test::test_unit_id) { return counts_work(); }

BOOST_AUTO_TEST_SUITE(costs, *boost::unit_test::precondition(work_is_counted))

/// At sizes in the tens, terms of lower order are a few hundredths of the count. One missing operation in eleven would
/// be nine hundredths.
constexpr double lower_order = 0.05;

BOOST_AUTO_TEST_CASE(descriptors_say_what_their_definitions_do, *slow) {
  for (const Variant &v : all_variants())
    for (const Shape &shape : {Shape{1, 1, 128, 64, 48}, Shape{1, 1, 96, 48, 64}}) {
      const Params params = variant_params(v);
      const Work work = counted_work(v, random_sequence(shape, 1), params);
      const double flops = double(work.flops) / shape.T, functions = double(work.functions) / shape.T;
      const double said = v.cost.flops.at(shape, params), called = v.cost.functions.at(shape, params);
      BOOST_TEST_INFO(v.name << " at Dk = " << shape.Dk << ", T = " << shape.T << ": " << flops << " flops and "
                             << functions << " functions a token, said to be " << said << " and " << called);
      if (v.cost.least) {
        BOOST_TEST((said > 0 && said <= flops && called <= functions));
      } else {
        BOOST_TEST(std::fabs(flops - said) <= lower_order * flops);
        BOOST_TEST(std::fabs(functions - called) <=
                   lower_order * functions + 16); // the cost leaves out about one root per token
      }
    }
}

BOOST_AUTO_TEST_CASE(
    linear_attention_by_hand) { // two steps, Dk = 3, Dv = 2: s += v k and s . q, each 2 flops per number
  Sequence s = one_head(2, {1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}, {1, 2, 3, 4});
  const Work work = counted_work(find_variant("linear"), s, variant_params(find_variant("linear")));
  BOOST_TEST(work.flops == 2 * (2 * 2 * 3 + 2 * 2 * 3) + 2 * 2); // plus one multiplication by the scale per read
  BOOST_TEST(work.products == 2 * (2 * 3 + 2 * 3) + 2 * 2);
  BOOST_TEST(work.functions == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
