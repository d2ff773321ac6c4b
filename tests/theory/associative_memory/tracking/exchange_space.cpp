// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(exchange_space)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("e3_rewrite", {{"n", "7"}, {"swaps", "42"}});
  check_claim_at("e3_space", {{"n", "11"}});
  check_claim_at("e3_space_value_width", {{"n", "128"}});
  refuse_point("e3_rewrite", {{"n", "7"}, {"swaps", "41"}});
  refuse_point("e3_space_value_width", {{"n", "200"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
