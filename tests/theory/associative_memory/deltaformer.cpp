// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/delta_recursion.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(deltaformer)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"deltaformer_special_cases", "eq93_deltanet", "eq94_z_typo", "normaliser_independent",
                "deltaformer_exp_stability"});
}

BOOST_AUTO_TEST_CASE(recursion_by_hand) {
  // k = 1, 2, -1 in one dimension, linear kernel, v = 1, 1, 1:
  // u_1 = 1;  u_2 = 1 - 2.1 = -1;  u_3 = 1 - (-1 . 1) - (-2 . -1) = 0.
  const Dense k(3, 1, {1, 2, -1}), v(3, 1, {1, 1, 1});
  const Dense A = causal_weights(k, k, linear_kernel, Triangle::strict);
  check_close(A.data, {0, 0, 0, 2, 0, 0, -1, -2, 0}, 0);
  check_close(substitute(A, v).data, {1, -1, 0}, 0);
  check_close(normalise_sums(causal_weights(k, k, linear_kernel, Triangle::strict)).data,
              {0, 0, 0, 1, 0, 0, 1. / 3, 2. / 3, 0}, 1e-16);
}

BOOST_AUTO_TEST_CASE(gates_scale_rows) {
  const Dense m(2, 2, {1, 2, 3, 4});
  check_close(scale_rows(m, {2, -1}).data, {2, 4, -3, -4}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
