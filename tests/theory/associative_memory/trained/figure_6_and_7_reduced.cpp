// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_6_and_7_reduced)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { // once: the seeds of the trainings are their own
  for (const char *id : {"fig6_reduced", "fig7_reduced"}) check_claim(find_claim(id), {Effort::quick, 1, {}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
