// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_erasing)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated_at_other_points) {
  for (const char *cosine : {"0.1", "0.8"})
    check_claim_at("delta_attenuates_similar", {{"cosine", cosine}, {"d", "3"}, {"dv", "2"}});
  check_claim_at("delta_deletes", {{"n", "3"}, {"d", "4"}, {"dv", "2"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
