// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(footnote_4_exp_kernel)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("snr_norm_invariant", {{"n", "7"}, {"d", "5"}, {"dv", "3"}, {"tau", "2"}});
  check_claim_at("dot_variance", {{"d", "7"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
