// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(deltaformer)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  for (const char *id :
       {"deltaformer_u_form", "eq93_deltanet", "deltaformer_special_deltanet", "deltaformer_special_transformer"}) {
    check_claim_at(id, {{"d", "3"}, {"dv", "7"}, {"T", "11"}});
    check_claim_at(id, {{"d", "40"}, {"dv", "1"}, {"T", "33"}}, 2);
  }
}

BOOST_AUTO_TEST_CASE(recursion_by_hand) {
  // k = 1, 2, -1 in one dimension, linear kernel, v = 1, 1, 1:
  // u_1 = 1;  u_2 = 1 - 2.1 = -1;  u_3 = 1 - (-1 . 1) - (-2 . -1) = 0.
  const Dense k(3, 1, {1, 2, -1}), v(3, 1, {1, 1, 1});
  const Dense A = causal_weights(k, k, linear_kernel, Triangle::strict);
  check_close(A.data, {0, 0, 0, 2, 0, 0, -1, -2, 0}, 0);
  check_close(solve_unit_lower(A, v).data, {1, -1, 0}, 0);
  check_close(normalise_sums(causal_weights(k, k, linear_kernel, Triangle::strict)).data,
              {0, 0, 0, 1, 0, 0, 1. / 3, 2. / 3, 0}, 1e-16);
}

BOOST_AUTO_TEST_CASE(what_the_layer_writes_by_hand) {
  const Dense k(3, 1, {1, 2, -1}), v(3, 1, {1, 1, 1});
  for (const char *form : {"recurrent", "chunked", "doubling"})
    check_close(written(k, k, v, {"linear", form, 2}).data, {1, -1, 0}, 0);
  check_close(last_written(k, v, "linear").data, {0}, 0);
  check_close(written(Dense(3, 3, {0, 0, 0, 2, 0, 0, -1, -2, 0}), v).data, {1, -1, 0}, 0);
  // alpha = 1/2, beta = 2: u_2 = 1/2 - 2.2/2 = -3/2, u_3 = 1/2 + 2 (1.1/2 + 2.(-3/2)) = -9/2.
  check_close(written(k, k, v, {"linear", "recurrent", 1, Real::f64, 0.5, 2}).data, {0.5, -1.5, -4.5}, 0);
}

BOOST_AUTO_TEST_CASE(gates_scale_rows) {
  const Dense m(2, 2, {1, 2, 3, 4});
  check_close(scale_rows(m, {2, -1}).data, {2, 4, -3, -4}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
