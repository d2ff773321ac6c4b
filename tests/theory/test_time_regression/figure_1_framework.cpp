// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_1_framework)

BOOST_AUTO_TEST_CASE(what_is_not_numeric_is_not_tested) {
  const Claim &framework = find_claim("framework_unification");
  BOOST_TEST((framework.reason == Reason::not_numeric));
  BOOST_TEST((examine(framework, {}).verdict == Verdict::not_tested));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
