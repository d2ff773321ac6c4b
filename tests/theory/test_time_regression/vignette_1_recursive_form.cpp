// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_1_recursive_form)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("rls_eq_typo_ktm1kt", {{"t", "12"}, {"Dk", "3"}}, 4);
  check_claim_at("rls_woodbury_equals_batch", {{"T", "7"}, {"Dk", "6"}, {"Dv", "2"}}, 4);
  check_claim_at("rls_ridge_init_bias", {{"t", "9"}, {"Dk", "4"}, {"Dv", "1"}, {"delta", "0.3"}}, 4);
  check_claim_at("mesa_intention_rls", {{"t", "15"}, {"Dk", "5"}, {"Dv", "2"}, {"lambda", "0.02"}}, 4);
  check_claim_at("mesa_intention_rls", {{"t", "16"}, {"Dk", "13"}, {"lambda", "0.5"}}, 5); // next to t = Dk
  check_claim_at("mesa_intention_rls", {{"t", "6"}, {"Dk", "13"}, {"lambda", "0.01"}}, 5); // fewer pairs than channels
  refuse_point("rls_eq_typo_ktm1kt", {{"t", "5"}});
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One channel, keys 1 and 2, values 1 and 4: V^T K = 1 + 8 = 9, K^T K = 1 + 4 = 5. Ridge 1: 9/6; least squares 9/5;
  // the difference -3/10 is -delta M / (K^T K + delta) = -(9/5) / 6.
  const Sequence s = one_head(2, {1, 1}, {1, 2}, {1, 4});
  for (const char *name : {"rls", "mesa", "intention"}) {
    const Variant &layer = find_variant(name);
    const Output out = forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"ridge", "1"}})});
    BOOST_TEST(std::fabs(out.o[1] - 1.5) < 1e-15);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
