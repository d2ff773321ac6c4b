// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(lookup_cache)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) { check_claim_at("gqa_same_cache", {{"T", "11"}, {"d", "4"}, {"dv", "5"}}); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
