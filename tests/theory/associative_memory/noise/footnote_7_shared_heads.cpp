// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(footnote_7_shared_heads)

BOOST_AUTO_TEST_CASE(at_a_point_of_our_own) {
  const Finding finding =
      check_claim_at("footnote7_mqa_noise", {{"heads", "4"}, {"sigma", "2"}, {"d", "10"}, {"dv", "3"}});
  bool found = false;
  for (const Point &point : finding.points) // (1 + 4/4) / (1 + 4)
    found = found || (point.role == Role::obligation && std::fabs(point.measured - 0.4) < 1e-12);
  BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(sizes_that_are_refused) {
  BOOST_CHECK_THROW(check_claim_at("footnote7_mqa_noise", {{"heads", "32"}, {"d", "64"}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
