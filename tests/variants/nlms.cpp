// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(nlms)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // |k_1|^2 = 2: S_1 = 4/2 [1,1] = [2,2,0]; o_1 = 4. |k_2|^2 = 4: reads 4, residual 8, S_2 = [2,2,0] + 2 [0,2,0] =
  // [2,6,0]; o_2 = 12.
  const Sequence s = one_head(2, {1, 1, 5, 3, 1, 0}, {1, 1, 0, 0, 2, 0}, {4, 12});
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("nlms"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {4, 12}, 32 * epsilon_of(Real::f64)); // lengths are square roots
    check_close(out.state, {2, 6, 0}, 16 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(the_last_pair_is_always_stored_exactly) {
  Sequence s = random_sequence({1, 2, 50, 8, 4}, 41, Keys::gaussian);
  s.q = s.k;
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("nlms"), s, {form, Real::f64, 16, {}});
    check_close(out.o, s.v,
                accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * input_condition(find_variant("nlms"), s, {}) *
                    max_abs(s.v));
  }
}

BOOST_AUTO_TEST_CASE(a_zero_key_writes_nothing) {
  Sequence s = one_head(1, {1, 2}, {0, 0}, {7});
  s.state = {3, 4};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("nlms"), s, {form, Real::f32, 1, {}});
    check_close(out.o, {11}, 0);
    check_close(out.state, {3, 4}, 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
