// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/key_blind.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_reduced)

BOOST_AUTO_TEST_CASE(guesses_among_two_values_by_hand) {
  // Of three draws of two values all are equal with 1/4: E[largest] / 3 = (3/4 + 2 * 3/4) / 3.
  BOOST_TEST(std::fabs(theory::frequent_law(3, 2) - 0.75) < 1e-15);
  BOOST_TEST(theory::frequent_law(1, 7) == 1);
  BOOST_TEST(std::fabs(theory::random_law(3, 2) - (1.0 / 3 + 2.0 / 6)) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
