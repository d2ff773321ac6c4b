// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_79_softmax_as_mean)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated_at_other_points) {
  check_claim_at("softmax_lln", {{"t", "10"}, {"square", "0.4"}});
  check_claim_at("eq79_recurrence", {{"T", "7"}, {"d", "2"}, {"dv", "5"}});
  check_claim_at("softmax_write_in_vanishes", {{"t", "17"}});
  check_claim_at("softmax_later_attenuated", {{"t", "17"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
