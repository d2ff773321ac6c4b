// SPDX-License-Identifier: Apache-2.0
#include "harness/call/along_ranks.hpp"
#include "harness/call/backward.hpp"
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
  // 31/32 in head 0 and 63/64 in head 1 of each of two texts. S_1 = 32, S_2 = 32 gamma_h + 5; read with q = 1.
  Sequence s = random_sequence({2, 2, 2, 1, 1}, 1);
  s.q = s.k = {1, 1, 1, 1, 1, 1, 1, 1}, s.v = {32, 5, 32, 5, 32, 5, 32, 5};
  const Variant &variant = find_variant("retnet");
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(variant, s, {form, Real::f64, 1, variant_params(variant, {{"gammas", "paper"}})});
    check_close(out.o, {32, 36, 32, 36.5, 32, 36, 32, 36.5}, 0);
    check_close(out.state, {36, 36.5, 36, 36.5}, 0);
  }
}

/// gamma of head h is 1 - 2^{-5-h}, which gated_linear has as alpha. Outputs, states and gradients agree in all forms.
BOOST_AUTO_TEST_CASE(with_the_papers_gammas_it_is_gated_linear) {
  const Variant &variant = find_variant("retnet"), &gated = find_variant("gated_linear");
  const Shape shape{2, 3, 40, 6, 5};
  Sequence s = random_sequence(shape, 6);
  s.lambda.clear();
  for (size_t i = 0; i < s.alpha.size(); ++i) s.alpha[i] = 1 - std::ldexp(1, -5 - int(i / 40 % 3));
  check_reduction("retnet", s, "gated_linear", s, {{"gammas", "paper"}});
  const Params params = variant_params(variant, {{"gammas", "paper"}}), general = variant_params(gated);
  const OutputWeights weights{random_sequence(shape, 7).v, {}};
  for (const char *form : {"recurrent", "chunked"}) {
    const Run run{form, Real::f64, 16, params}, its{form, Real::f64, 16, general};
    const Output one = forward(variant, s, run), other = forward(gated, s, its);
    const double rounding = 1e3 * epsilon_of(Real::f64);
    check_close(one.o, other.o, rounding * max_abs(other.o));
    check_close(one.state, other.state, rounding * max_abs(other.state));
    const Sequence d = gradient_by(variant, s, run, weights), d_other = gradient_by(gated, s, its, weights);
    for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v})
      check_close(d[tensor], d_other[tensor], rounding * max_abs(d_other[tensor]));
  }
}

BOOST_AUTO_TEST_CASE(ranks_do_not_cut_between_heads_that_differ) {
  const Variant &variant = find_variant("retnet");
  const Shape shape{1, 2, 8, 4, 4};
  const Form &form = variant.forms[0];
  BOOST_TEST(not_along(variant, form, shape, variant_params(variant)).empty());
  BOOST_TEST(not not_along(variant, form, shape, variant_params(variant, {{"gammas", "paper"}})).empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
