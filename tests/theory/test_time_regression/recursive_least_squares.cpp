// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(recursive_least_squares)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"rls_eq_typo_ktm1kt", "rls_woodbury_equals_batch", "rls_ridge_init_bias", "weighted_rls_woodbury"});
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One channel, keys 1 and 2, values 1 and 4: V^T K = 1 + 8 = 9, K^T K = 1 + 4 = 5. Ridge 1: 9/6; least squares 9/5;
  // the difference -3/10 is -delta M / (K^T K + delta) = -(9/5) / 6. Forgetting by 1/2: (1/2 + 8) / (1/2 (1 + 1/2 1) +
  // 4).
  Sequence s = one_head(2, {1, 1}, {1, 2}, {1, 4});
  const auto last = [&](const char *name) {
    return forward(find_variant(name), s,
                   {"recurrent", Real::f64, 1, variant_params(find_variant(name), {{"ridge", "1"}})})
        .o[1];
  };
  BOOST_TEST(std::fabs(last("rls") - 1.5) < 1e-15);
  s.alpha = {0.5, 0.5};
  BOOST_TEST(std::fabs(last("weighted_rls") - 8.5 / 4.75) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
