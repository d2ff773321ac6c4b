// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_2_stagnation)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated_at_other_points) {
  check_claim_at("decay_prevents_stagnation",
                 {{"lambda", "0.7"}, {"alpha", "0.8"}, {"beta", "0.6"}, {"d", "4"}, {"T", "16"}});
  check_claim_at("conv_prevents_stagnation", {{"tap", "0.8"}, {"beta", "0.6"}, {"d", "4"}, {"T", "18"}});
}

BOOST_AUTO_TEST_CASE(what_is_under_specified_is_not_tested) {
  BOOST_TEST((examine(find_claim("layers_prevent_stagnation"), {}).verdict == Verdict::not_tested));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
