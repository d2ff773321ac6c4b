// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_1_least_squares)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("ls_eq11_over", {{"t", "11"}, {"Dk", "3"}, {"Dv", "5"}}, 4);
  check_claim_at("ls_eq11_under", {{"t", "2"}, {"Dk", "3"}, {"Dv", "1"}}, 4);
  check_claim_at("ls_eq11_rank_deficient", {{"t", "5"}, {"Dk", "9"}, {"Dv", "1"}}, 4);
  check_claim_at("ls_norm_bound", {{"t", "7"}, {"Dk", "2"}, {"Dv", "4"}}, 4);
  check_claim_at("feature_mapped_ls", {{"t", "17"}, {"Dk", "4"}, {"Dv", "2"}}, 4);
  refuse_point("ls_eq11_over", {{"t", "3"}});
  refuse_point("ls_eq11_under", {{"t", "8"}});
  refuse_point("ls_eq11_rank_deficient", {{"t", "1"}});
  refuse_point("ls_norm_bound", {{"t", "2"}});
}

BOOST_AUTO_TEST_CASE(repeated_key_reads_the_mean_of_its_values) {
  // K = (1, 1)^T, V = (0, 1)^T: the pseudo-inverse is (1/2, 1/2), so M = 1/2.
  const Dense M = transpose(Dense(2, 1, {0, 1})) * transpose(pseudo_inverse(Dense(2, 1, {1, 1})));
  check_close(M.data, {0.5}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
