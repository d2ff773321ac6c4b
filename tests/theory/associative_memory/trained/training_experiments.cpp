// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(training_experiments)

BOOST_AUTO_TEST_CASE(none_is_tested_without_training) {
  for (const char *id : {"fig4_training", "fig5_training", "fig6_training", "fig7_training", "fig8_training"}) {
    const Finding finding = examine(find_claim(id), {});
    BOOST_TEST((finding.verdict == Verdict::not_tested), id);
    BOOST_TEST(!finding.passed, id << " must not be green");
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
