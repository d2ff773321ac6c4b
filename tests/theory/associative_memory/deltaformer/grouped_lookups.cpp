// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(grouped_lookups)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("gqa_fit_assumption2", {{"eps", "0.002"}, {"n", "7"}, {"swaps", "12"}});
  check_claim_at("gqa_linear_stays_linear", {{"T", "33"}, {"d", "5"}, {"G", "3"}});
}

BOOST_AUTO_TEST_CASE(one_exponential_by_hand) {
  // groups = 1 and kappa1 = exp: u_2 = v_2 - e v_1 for k_1.w_2 = 1, read back through q_2 = k_2.
  Sequence s;
  s.shape = {1, 1, 2, 2, 1};
  s.k = {1, 0, 0, 1}, s.w = {0, 0, 1, 0}, s.q = {0, 0, 0, 1}, s.v = {1, 3};
  const Variant &layer = find_variant("delta_former");
  check_close(forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"kappa1", "exp"}})}).o,
              {0, 3 - std::exp(1.0)}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
