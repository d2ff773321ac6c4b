// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(delta_softmax)

BOOST_AUTO_TEST_CASE(three_steps_by_hand) {
  // u_1 = 8, u_2 = 4 - 8 = -4 whatever the keys; step 3: k.k_3 = (0, ln 3), weights (1/4, 3/4), u_3 = 1 - (2 - 3) = 2.
  // The queries of steps 2 and 3 are 0: plain means, o_2 = (8 - 4) / 2, o_3 = (8 - 4 + 2) / 3.
  const Sequence s = one_head(3, {1, 0, 0, 0, 0, 0}, {1, 0, 0, 1, 0, std::log(3.0)}, {8, 4, 1});
  for (const char *form : {"recurrent", "chunked", "doubling"})
    for (int chunk : {1, 2, 3})
      check_close(forward(find_variant("delta_softmax"), s, {form, Real::f64, chunk, {}}).o, {8, 2, 2},
                  128 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(is_delta_former_with_softmax_kernels) {
  Sequence s = random_sequence({1, 2, 90, 6, 4}, 15);
  const Variant &delta_former = find_variant("delta_former");
  const Output softmax = forward(find_variant("delta_softmax"), s, {"chunked", Real::f64, 16, {}});
  s.w.clear(), s.alpha.clear(), s.beta.clear();
  const Params params = variant_params(delta_former, {{"kappa1", "softmax"}, {"kappa2", "softmax"}});
  const double kappa = input_condition(delta_former, s, params);
  BOOST_TEST(deviation(softmax, forward(delta_former, s, {"recurrent", Real::f64, 1, params})).largest() <=
             accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * kappa);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
