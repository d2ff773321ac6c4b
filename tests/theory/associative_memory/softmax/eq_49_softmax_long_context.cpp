// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_49_softmax_long_context)

BOOST_AUTO_TEST_CASE(what_is_not_numeric_is_not_tested) {
  BOOST_TEST((examine(find_claim("softmax_icl_diminishes"), {}).verdict == Verdict::not_tested));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
