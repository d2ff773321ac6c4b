// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(matrix_form)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("eq97_matrix_form", {{"T", "31"}, {"d", "5"}, {"dv", "2"}});
  check_claim_at("deltaformer_exp_conditioning", {{"d", "9"}});
  check_claim_at("deltaformer_exp_conditioning", {{"d", "24"}}, 2);
  check_claim_at("chunked_round_swaps", {{"n", "21"}, {"swaps", "77"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
