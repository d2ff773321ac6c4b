// SPDX-License-Identifier: Apache-2.0
#include "tests/gates.hpp"
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(hgrn)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Three value channels on two gate channels: the third takes the gates of the first. sigmoid(0) = 1/2: f_1 = (1/2,
  // 1/4), f_2 = (1/4, 1/2).  h_1 = (0.5*2, 0.75*4, 0.5*6) = (1, 3, 3). h_2 = (0.25*1 + 0.75*4, 0.5*3 + 0.5*7, 0.25*3 +
  // 0.75*8) = (3.25, 5, 6.75), read with q_2 = (2, 1).
  Sequence s = one_head(2, {1, 1, 2, 1}, {0, 0, 0, 0}, {2, 4, 6, 4, 7, 8});
  s.lambda = {1, 0.5, 0.5, 1};
  const Output out = forward(find_variant("hgrn"), s);
  check_close(out.o, {1, 3, 3, 6.5, 5, 13.5}, 0);
  check_close(out.state, {3.25, 5, 6.75}, 0);
}

BOOST_AUTO_TEST_CASE(one_channel_is_hgrn2) {
  const Sequence s = random_sequence({2, 2, 40, 1, 1}, 5);
  check_reduction("hgrn", s, "hgrn2", s);
  check_reduction("hgrn", s, "hgrn2", s, {{"lower", "0.3"}}, {{"lower", "0.3"}});
}

BOOST_AUTO_TEST_CASE(harsh_gates_cost_no_digits) { // over many groups of chunks; bound as in gated_linear's test
  const Variant &variant = find_variant("hgrn");
  Sequence s = positive_sequence({1, 1, 2000, 3, 4});
  s.lambda = harsh_gates(s.lambda.size());
  s.k.assign(s.k.size(), -800);                  // f = lambda
  for (int j = 0; j < 3; ++j) s.lambda[j] = 0.5; // so that something is written from the first step on
  const Output reference = forward(variant, s);
  for (int C : {1, 16, 100, 2000}) {
    const Output fast = forward(variant, s, {"chunked", Real::f64, C, {}});
    BOOST_TEST(largest_relative_error(fast.o, reference.o) <= 4 * 2000 * epsilon_of(Real::f64));
    BOOST_TEST(largest_relative_error(fast.state, reference.state) <= 4 * 2000 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(a_write_far_below_the_rounding_of_its_gate_is_kept) {
  // At k = -38 f = 1 - 3e-17 rounds to 1, but the write strength is sigmoid(-38) and does not round to 0.
  for (const char *name : {"hgrn", "hgrn2"}) {
    const double state = forward(find_variant(name), one_head(1, {1}, {-38}, {1})).state[0],
                 expected = 1 / (1 + std::exp(38.0));
    BOOST_TEST(std::fabs(state / expected - 1) < 8 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
