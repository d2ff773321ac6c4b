// SPDX-License-Identifier: Apache-2.0
#include "harness/call/equivalence.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(equivalences)

BOOST_AUTO_TEST_CASE(an_exact_form_is_within_its_bound_and_another_layer_is_not) {
  const Variant &linear = find_variant("linear"),
                &delta = find_variant("delta_net"); // their states have the same shape
  const Sequence s = random_sequence({1, 2, 40, 6, 4}, 1);
  const Definition d = definition(linear, s, variant_params(linear));
  BOOST_TEST(d.condition >= 1);
  for (Real real : {Real::f32, Real::f64}) {
    const Equivalence e = equivalence(linear, s, {"chunked", real, 8, {}}, d);
    BOOST_TEST(e.holds());
    BOOST_TEST(e.bound == accumulated_terms(s.shape, 8) * epsilon_of(real) * d.condition);
  }
  BOOST_TEST(!equivalence(delta, s, {"recurrent", Real::f64, 1, variant_params(delta)}, d).holds());
}

BOOST_AUTO_TEST_CASE(what_is_not_a_number_does_not_hold) { BOOST_TEST(!Equivalence({std::nan(""), 1}).holds()); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
