// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_5_read)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claim(find_claim("fig5_reduced"), {Effort::quick, 1, {}}); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
