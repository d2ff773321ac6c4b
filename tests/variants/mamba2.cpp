// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(mamba2)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 1*3, S_2 = 0.5*3 + 2*5; read with q = 2.
  Sequence s = one_head(2, {2, 2}, {1, 1}, {3, 5});
  s.alpha = {0.25, 0.5}, s.beta = {1, 2};
  const Output out = forward(find_variant("mamba2"), s);
  check_close(out.o, {6, 23}, 0);
  check_close(out.state, {11.5}, 0);
}

BOOST_AUTO_TEST_CASE(is_gated_linear_with_scaled_values) {
  const Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  Sequence scaled = s;
  scaled.lambda.clear();
  for (size_t i = 0; i < s.v.size(); ++i) scaled.v[i] *= s.beta[i / s.shape.Dv];
  check_reduction("mamba2", s, "gated_linear", scaled);
}

BOOST_AUTO_TEST_CASE(gates_of_one_are_linear_attention) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  s.alpha.assign(s.alpha.size(), 1), s.beta.clear();
  check_reduction("mamba2", s, "linear", s);
}

BOOST_AUTO_TEST_CASE(needs_its_gate) {
  BOOST_CHECK_THROW(forward(find_variant("mamba2"), one_head(1, {1}, {1}, {1})), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
