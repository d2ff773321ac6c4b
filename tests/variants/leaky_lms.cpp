// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(leaky_lms)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 0.5 * 4 [1,2] = [2,4]; o_1 = 6.
  // Step 2: S_1 k_2 = -2, residual 6 - (-2) = 8, S_2 = 0.5 [2,4] + 0.25 * 8 [1,-1] = [3,0]; o_2 = 9.
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 6});
  s.beta = {0.5, 0.25}, s.alpha = {1, 0.5};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("leaky_lms"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {6, 9}, 0);
    check_close(out.state, {3, 0}, 0);
  }
}

/// (alpha, beta, v) of one layer under 003 Eq 38-41; `back` is the inverse.
Sequence mapped(Sequence s, bool back) {
  for (size_t t = 0; t < s.alpha.size(); ++t) {
    const double alpha = back ? 1 / s.alpha[t] : s.alpha[t];
    s.beta[t] /= alpha;
    for (int i = 0; i < s.shape.Dv; ++i) s.v[t * s.shape.Dv + i] *= alpha;
  }
  return s;
}

BOOST_AUTO_TEST_CASE(is_gated_delta_net_by_the_invertible_map_both_ways) {
  const Sequence s = random_sequence({2, 2, 70, 9, 5}, 51);
  const Variant &leaky = find_variant("leaky_lms"), &gated = find_variant("gated_delta_net");
  const double bound = 2 * accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * input_condition(gated, s, {});
  BOOST_TEST(deviation(forward(gated, mapped(s, false)), forward(leaky, s)).largest() <= bound);
  BOOST_TEST(deviation(forward(leaky, mapped(s, true)), forward(gated, s)).largest() <= bound);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
