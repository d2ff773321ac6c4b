// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_2_noise_and_heads)

BOOST_AUTO_TEST_CASE(points_outside_the_statements_are_refused) {
  refuse_point("multihead_deltanet", {{"D", "4"}, {"m", "4"}});
  refuse_point("multihead_deltanet", {{"m", "7"}, {"beta", "0.3"}});
  refuse_point("multihead_deltanet", {{"T", "5"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
