// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_79_softmax_as_mean)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"eq79_recurrence", "gated_softmax_normaliser", "softmax_later_attenuated"});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
