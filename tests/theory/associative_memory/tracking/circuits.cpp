// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(circuits)

BOOST_AUTO_TEST_CASE(what_is_not_numeric_is_not_tested) {
  for (const char *id : {"s5_beyond_tc0", "circuit_hierarchy", "matrix_inverse_beyond_tc0"})
    BOOST_TEST((examine(find_claim(id), {}).verdict == Verdict::not_tested), id);
}

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  for (const char *n : {"5", "7"}) check_claim_at("nc0_and_depth", {{"n", n}});
  check_claim_at("tc0_neighbourhood", {{"n", "11"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
