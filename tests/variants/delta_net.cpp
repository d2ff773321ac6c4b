// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(delta_net)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 0.5 * 4 [1,2] = [2,4]; o_1 = 2 + 4 = 6.
  // Step 2: S_1 k_2 = 2*1 - 4*1 = -2, residual 6 - (-2) = 8, S_2 = [2,4] + 0.25 * 8 [1,-1] = [4,2]; o_2 = 3*4 + 2 = 14.
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 6});
  s.beta = {0.5, 0.25};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("delta_net"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {6, 14}, 0);
    check_close(out.state, {4, 2}, 0);
  }
}

BOOST_AUTO_TEST_CASE(a_full_step_with_a_unit_key_overwrites_and_leaves_orthogonal_keys) {
  // Keys e1, e2, e1 again: read e1 and e2 in turn. Exact: every product is by 0 or 1.
  Sequence s = one_head(4, {1, 0, 0, 1, 1, 0, 0, 1}, {1, 0, 0, 1, 1, 0, 1, 0}, {5, 7, -3, 2});
  s.beta = {1, 1, 1, 1};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("delta_net"), s, {form, Real::f32, 3, {}});
    check_close(out.o, {5, 7, -3, 7}, 0);
    check_close(out.state, {2, 7}, 0);
  }
}

BOOST_AUTO_TEST_CASE(one_write_blends_old_and_new) {
  // 002 §4: S_t k_t = (1 - beta) S_{t-1} k_t + beta v_t for a unit key.
  Sequence s = random_sequence({1, 1, 2, 5, 3}, 11);
  for (int j = 0; j < 5; ++j) s.k[5 + j] = s.q[j] = s.q[5 + j] = s.k[j];
  s.beta = {1, 0.3};
  const Output out = forward(find_variant("delta_net"), s);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(std::abs(out.o[3 + i] - (0.7 * out.o[i] + 0.3 * s.v[3 + i])) <=
               16 * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
