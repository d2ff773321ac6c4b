// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/delta_recursion.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(chunking)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"listing1_equivalence", "listing1_tail", "listing1_parallel_blocks", "eq97_matrix_form",
                "deltaformer_exp_conditioning", "chunked_round_swaps", "neumann_doubling", "neumann_non_power2",
                "listing1_comment_iteration", "neumann_fp_error", "eq51_perturbation", "eq51_strict_lower",
                "eq52_perturbation", "listing2_solve_sign", "listing2_softmax_mask"});
}

BOOST_AUTO_TEST_CASE(inverse_of_three_rows_by_hand) {
  // A = [[0,0,0],[a,0,0],[b,c,0]]: (I + A)^{-1} = I - A + A^2, whose corner is a c - b.
  const Dense A(3, 3, {0, 0, 0, 2, 0, 0, 5, 3, 0});
  const Dense columns = substitute(A, Dense::identity(3));
  check_close(columns.data, {1, 0, 0, -2, 1, 0, 1, -3, 1}, 0);
  check_close((Dense::identity(3) - A + A * A).data, columns.data, 0);
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
