// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(deltaformer_normaliser)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  for (const char *id : {"normaliser_independent", "eq94_differs_from_eq37", "eq94_z_typo"}) {
    check_claim_at(id, {{"d", "5"}, {"dv", "2"}, {"T", "9"}});
    check_claim_at(id, {{"d", "20"}, {"dv", "6"}, {"T", "150"}}, 2);
  }
  check_claim_at("deltaformer_exp_stability", {{"square_norm", "0.3"}, {"beta", "0.6"}});
  check_claim_at("deltaformer_exp_stability", {{"square_norm", "2"}, {"beta", "0.9"}});
  refuse_point("deltaformer_exp_stability",
               {{"square_norm", "1"}, {"beta", "0.36787944117144233"}}); // beta = 1/e reaches the limit in one step
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
