// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_3_reduced)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { // once: the seed of the trainings is their own
  check_claim(find_claim("mqar_fig3_reduced"), {Effort::quick, 1, {}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
