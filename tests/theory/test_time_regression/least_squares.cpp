// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(least_squares)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"ls_*", "wls_*", "linattn_optimal_*", "linattn_output_grows", "gd_eq20_23", "linattn_one_gd_step"});
}

BOOST_AUTO_TEST_CASE(repeated_key_reads_the_mean_of_its_values) {
  // K = (1, 1)^T, V = (0, 1)^T: the pseudo-inverse is (1/2, 1/2), so M = 1/2.
  const Dense M = transpose(Dense(2, 1, {0, 1})) * transpose(pseudo_inverse(Dense(2, 1, {1, 1})));
  check_close(M.data, {0.5}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
