// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_2_stagnation)

BOOST_AUTO_TEST_CASE(what_is_under_specified_is_not_tested) {
  BOOST_TEST((examine(find_claim("layers_prevent_stagnation"), {}).verdict == Verdict::not_tested));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
