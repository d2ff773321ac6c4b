// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_2)

BOOST_AUTO_TEST_CASE(conclusions_hold_for_a_covariance_of_my_own) {
  for (const char *id : {"fig2_linear_worst", "fig2_rls_high_error", "fig2_softmax_adapts", "fig2_p1_beats_p0"})
    check_claim_at(id, {{"noise", "chain"}, {"correlation", "0.3"}, {"start", "zero"}});
  check_claim_at("fig2_p1_beats_p0", {{"noise", "chain"}, {"correlation", "0.95"}});
  refuse_point("fig2_p1_beats_p0", {{"noise", "equicorrelated"}, {"correlation", "0.8"}});
}

BOOST_AUTO_TEST_CASE(without_learnable_parameters_the_figure_is_not_told) {
  const Claim &table = find_claim("fig2_loss_table");
  BOOST_TEST(!table.measure);
  BOOST_TEST((table.reason == Reason::under_specified));
}

BOOST_AUTO_TEST_CASE(one_direction_of_noise_is_refused) {
  refuse_point("fig2_softmax_adapts", {{"noise", "equicorrelated"}, {"correlation", "0.95"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
