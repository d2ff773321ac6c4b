// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(perturbation)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("eq51_perturbation", {{"T", "9"}, {"d", "20"}, {"norm", "0.0004"}});
  check_claim_at("eq51_strict_lower", {{"norm", "0.07"}});
  check_claim_at("eq52_perturbation", {{"T", "5"}, {"norm", "30"}});
  check_claim_at("u_less_stable_than_o", {{"n", "4"}, {"swaps", "11"}, {"cosine", "-0.04"}});
  refuse_point("eq51_perturbation", {{"T", "64"}, {"d", "2"}, {"norm", "0.9"}}); // |A^-1| |dA| is not small
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
