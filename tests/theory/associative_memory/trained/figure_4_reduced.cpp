// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_4_reduced)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { // once: the seeds of the trainings are their own
  for (const char *id : {"fig4_reduced_tracking", "fig4_reduced_kernels"})
    check_claim(find_claim(id), {Effort::quick, 1, {}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
