// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(hgrn2)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // sigmoid(0) = 1/2: f = 1/2, 1/4.  S_1 = 0.5*3, S_2 = 0.25*1.5 + 0.75*5; read with q = 2.
  Sequence s = one_head(2, {2, 2}, {0, 0}, {3, 5});
  s.lambda = {1, 0.5};
  const Output out = forward(find_variant("hgrn2"), s);
  check_close(out.o, {3, 8.25}, 0);
  check_close(out.state, {4.125}, 0);
}

BOOST_AUTO_TEST_CASE(the_lower_bound_holds_the_gate_up) {
  // lower = 1/2: f = 3/4, write 1/4.  S_1 = 1, S_2 = 0.75 + 2.
  const Variant &variant = find_variant("hgrn2");
  const Run run{"recurrent", Real::f64, 1, variant_params(variant, {{"lower", "0.5"}})};
  check_close(forward(variant, one_head(2, {1, 1}, {0, 0}, {4, 8}), run).o, {1, 2.75}, 0);
}

BOOST_AUTO_TEST_CASE(is_gla_with_the_complement_as_key) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  s.alpha.clear();
  Sequence complement = s;
  for (size_t i = 0; i < s.k.size(); ++i) {
    complement.lambda[i] = s.lambda[i] / (1 + std::exp(s.k[i]));
    complement.k[i] = 1 - complement.lambda[i];
  }
  check_reduction("hgrn2", s, "gated_linear", complement);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
