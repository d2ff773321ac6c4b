// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/mlp_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(ttt_mlp)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One hidden unit, Dk = 1, Dv = 3, k = 1: y = gelu(b) A with A_0 = (1,0,-1), b = 1. v_1 = f(k) - (1,-2,1), an error
  // orthogonal to 1 and to norm, has gradient e = (1,-2,1) / (sigma g), where sigma^2 = 2/3 is the variance of A_0 and
  // g = gelu(1). e . A_0 = 0, so b stays and A_1 = A_0 - lr g e = A_0 - lr (1,-2,1) / sigma; lr = sigma gives A_1 =
  // (0,2,-2). The second error (2,-1,-1) is orthogonal to A_1 and to 1 as well, and A_1 has variance 8/3 = 4 sigma^2:
  // A_2 = A_1 - (2,-1,-1) / 2 = (-1, 2.5, -1.5). Epsilon moves this by 1e-5.
  const double sigma = std::sqrt(2.0 / 3), n0 = 1 / sigma, n1 = n0 / 2, n2 = 1 / std::sqrt((1 + 6.25 + 2.25) / 3);
  Sequence s = one_head(2, {1, 3}, {1, 1}, {1 + n0 - 1, 2, -n0 - 1, 1 - 2, 2 * n1 + 1, -2 * n1 + 1});
  s.state = {1, 1, 0, -1};
  const Variant &layer = find_variant("ttt_mlp");
  Params params = variant_params(layer, {{"width", "1"}, {"minibatch", "1"}});
  params.set("lr", sigma);
  for (const char *form : {"recurrent", "minibatch"}) {
    const Output out = forward(layer, s, {form, Real::f64, 1, params});
    check_close(out.o, {1, 2 * n1, -2 * n1, 3 - n2, 2.5 * n2, -1.5 * n2}, 3e-5);
    check_close(out.state, {1, -1, 2.5, -1.5}, 3e-5);
  }
}

BOOST_AUTO_TEST_CASE(a_step_descends_its_own_loss) { check_gradient("ttt_mlp", {}); }
BOOST_AUTO_TEST_CASE(minibatches) { check_minibatches("ttt_mlp", "2e-4", "1e-4"); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
