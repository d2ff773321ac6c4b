// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(footnote_8_reduced)

BOOST_AUTO_TEST_CASE(claim_comes_out_as_stated) { // once: the seeds of the trainings are their own
  check_claim(find_claim("momentum_reduced"), {Effort::quick, 1, {}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
