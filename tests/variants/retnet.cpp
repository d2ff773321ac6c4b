// SPDX-License-Identifier: Apache-2.0
#include "harness/call/segment.hpp"
#include "harness/core/text.hpp"
#include "tests/reductions.hpp"
#include <cmath>

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

BOOST_AUTO_TEST_CASE(the_papers_gammas_of_two_heads_by_hand) {
  // gated_linear with alpha = 31/32 in head 0 and 63/64 in head 1. S_1 = 32, S_2 = 32 alpha + 5; read with q = 1.
  Sequence s = random_sequence({1, 2, 2, 1, 1}, 1);
  s.q = s.k = {1, 1, 1, 1}, s.v = {32, 5, 32, 5}, s.alpha = {31. / 32, 31. / 32, 63. / 64, 63. / 64};
  s.lambda.clear();
  const Output out = forward(find_variant("gated_linear"), s);
  check_close(out.o, {32, 36, 32, 36.5}, 0);
  check_close(out.state, {36, 36.5}, 0);
}

BOOST_AUTO_TEST_CASE(with_a_gamma_per_head_it_is_gated_linear) { // in the paper gamma of head h is 1 - 2^{-5-h}
  const int T = 40, H = 3;
  Sequence all = random_sequence({1, H, T, 6, 5}, 6);
  all.lambda.clear();
  for (size_t i = 0; i < all.alpha.size(); ++i) all.alpha[i] = 1 - std::ldexp(1, -5 - int(i) / T);
  const std::vector<double> o = forward(find_variant("gated_linear"), all).o;
  const Variant &variant = find_variant("retnet");
  for (int h = 0; h < H; ++h) {
    const Params params = variant_params(variant, {{"gamma", number(1 - std::ldexp(1, -5 - h))}});
    const Output one = forward(variant, slice_heads(all, size_t(h), 1), {"recurrent", Real::f64, 1, params});
    check_close(one.o, {o.begin() + h * T * 5, o.begin() + (h + 1) * T * 5}, 64 * epsilon_of(Real::f64) * max_abs(o));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
