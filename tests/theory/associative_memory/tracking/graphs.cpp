// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(graphs)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("dag_neumann", {{"n", "23"}, {"p", "0.5"}});
  check_claim_at("dag_deltaformer_sign", {{"n", "12"}, {"p", "0.4"}});
  check_claim_at("dag_deltaformer_construction", {{"n", "50"}});
  refuse_point("dag_deltaformer_construction", {{"n", "33"}});
}

BOOST_AUTO_TEST_CASE(path_counts_by_hand) {
  // 0 -> 1 -> 2 and 0 -> 2: w_2 = -(k_0 + k_1), so u_2 = e_2 + u_0 + u_1 = (2, 1, 1).
  Sequence s;
  s.shape = {1, 1, 3, 3, 3};
  s.k = s.q = s.v = Dense::identity(3).data;
  s.w = {0, 0, 0, -1, 0, 0, -1, -1, 0};
  const Variant &v = find_variant("delta_former");
  const Params linear = variant_params(v, {{"kappa1", "linear"}, {"kappa2", "linear"}});
  check_close(forward(v, s, {"recurrent", Real::f64, 1, linear}).o, {1, 0, 0, 1, 1, 0, 2, 1, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
