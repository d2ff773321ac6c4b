// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_3_mqar)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  for (const char *id : {"mqar_p128_linear_fails", "mqar_p128_rls_above_linear", "mqar_p128_rls_not_exact"})
    check_claim_at(id, {{"T", "900"}});
}

BOOST_AUTO_TEST_CASE(trained_statements_are_not_tested) {
  for (const char *id : {"mqar_p128_d64", "mqar_fig3_setup"})
    BOOST_TEST((find_claim(id).reason == Reason::needs_training));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
