// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/deltaformer/doubling.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(neumann)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("neumann_doubling", {{"C", "128"}});
  check_claim_at("neumann_non_power2", {{"C", "27"}});
  refuse_point("neumann_doubling", {{"C", "27"}});
  refuse_point("neumann_non_power2", {{"C", "32"}});
}

BOOST_AUTO_TEST_CASE(four_rows_by_hand) {
  // A is the shift: (I + A)^{-1} = I - A + A^2 - A^3 by one doubling.
  Dense shift(4, 4);
  for (int t = 1; t < 4; ++t) shift(t, t - 1) = 1;
  const Doubled r = doubling(shift, 1);
  check_close(r.X.data, {1, 0, 0, 0, -1, 1, 0, 0, 1, -1, 1, 0, -1, 1, -1, 1}, 0);
  BOOST_TEST(r.products == 2);
}

BOOST_AUTO_TEST_CASE(logarithms) {
  BOOST_TEST((floor_log2(1) == 0 && floor_log2(7) == 2 && floor_log2(8) == 3 && floor_log2(9) == 3));
  BOOST_TEST((ceil_log2(1) == 0 && ceil_log2(7) == 3 && ceil_log2(8) == 3 && ceil_log2(9) == 4));
}

BOOST_AUTO_TEST_CASE(doubling_is_worst_where_keys_repeat) {
  // All ones below the diagonal: A^m[i,j] = C(i-j-1, m-1). Entry (5, 0) of A^3 is C(4, 2) = 6.
  Dense ones(6, 6);
  for (int t = 0; t < 6; ++t)
    for (int i = 0; i < t; ++i) ones(t, i) = 1;
  BOOST_TEST((ones * ones * ones)(5, 0) == 6);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
