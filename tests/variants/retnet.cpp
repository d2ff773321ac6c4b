// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(retnet)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // gamma = 1/2: S_1 = 3, S_2 = 1.5 + 5; read with q = 2.
  const Variant &variant = find_variant("retnet");
  const Output out = forward(variant, one_head(2, {2, 2}, {1, 1}, {3, 5}),
                             {"recurrent", Real::f64, 1, variant_params(variant, {{"gamma", "0.5"}})});
  check_close(out.o, {6, 13}, 0);
  check_close(out.state, {6.5}, 0);
}

BOOST_AUTO_TEST_CASE(is_gated_linear_with_one_gate) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  s.lambda.clear();
  s.alpha.assign(s.alpha.size(), 0.9);
  check_reduction("retnet", s, "gated_linear", s, {{"gamma", "0.9"}});
  check_reduction("retnet", s, "linear", s, {{"gamma", "1"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
