// SPDX-License-Identifier: Apache-2.0
#include "harness/check/criteria.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(criteria)

bool accepts(const std::string &name, const std::string &part, double reference, double candidate,
             Precision precision = Precision::bf16) {
  const auto &all = criteria_in_use();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Criterion &one) { return one.name == name; });
  BOOST_TEST_REQUIRE((found != all.end()), name);
  const Part right{part, 1, 1, 1, {reference}, true}, other{part, 1, 1, 1, {candidate}, true};
  return found->accepts(right, other, precision);
}

BOOST_AUTO_TEST_CASE(limits_on_one_number) {
  BOOST_TEST((accepts("fla", "o", 1, 1.0049) && !accepts("fla", "o", 1, 1.0051)));
  BOOST_TEST((accepts("fla", "dk", 1, 1.0079) && !accepts("fla", "dk", 1, 1.0081)));
  BOOST_TEST((accepts("fla", "dbeta", 1, 1.019) && !accepts("fla", "dbeta", 1, 1.021)));
  BOOST_TEST(accepts("fla", "o", 1e-7, 0)); // an absolute error up to 1e-6
  BOOST_TEST((accepts("fla CI", "o", 1, 1.29) && !accepts("fla CI", "o", 1, 1.31)));
  BOOST_TEST((accepts("flashinfer", "o", 1, 1.019) && !accepts("flashinfer", "o", 1, 1.021)));
  BOOST_TEST((accepts("flashinfer", "state", 1, 1.0059) && !accepts("flashinfer", "state", 1, 1.0061)));
  BOOST_TEST((accepts("FlashQLA", "o", 1, 1.019) && !accepts("FlashQLA", "o", 1, 1.021)));
  BOOST_TEST((accepts("torch.testing", "o", 1, 1.0159) && !accepts("torch.testing", "o", 1, 1.0161)));
  BOOST_TEST(!accepts("torch.testing", "o", 1, 1.00002, Precision::f32));
}

BOOST_AUTO_TEST_CASE(nan_passes_nowhere) {
  for (const Criterion &one : criteria_in_use())
    BOOST_TEST(!accepts(one.name, "o", 1, std::numeric_limits<double>::quiet_NaN()), one.name);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
