// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(listing_2)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  for (const char *id : {"listing2_solve_sign", "listing2_softmax_mask"}) {
    check_claim_at(id, {{"T", "13"}, {"d", "3"}, {"dv", "2"}});
    check_claim_at(id, {{"T", "60"}, {"d", "24"}, {"dv", "7"}}, 2);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
