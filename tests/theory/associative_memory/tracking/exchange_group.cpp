// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(exchange_group)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  for (const char *n : {"3", "4", "5"}) check_claim_at("s5_nonsolvable", {{"n", n}});
  check_claim_at("vocab_10", {{"n", "9"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
