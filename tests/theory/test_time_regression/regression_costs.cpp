// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/counted.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(regression_costs)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claims({"local_linear_complexity_*", "softmax_t2_linear_t"}); }

BOOST_AUTO_TEST_CASE(counts_by_hand) {
  // One key of two channels against itself, and one value of one: two products for the score, one for the sum.
  using theory::Counted;
  const double products = theory::count([] {
    Counted score, k[2] = {3, 4};
    for (const Counted &x : k) score = score + x * x;
    BOOST_TEST((score * Counted(2)).value == 50);
  });
  BOOST_TEST(products == 3);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
