// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>
namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(mesa)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // ridge 1. Step 1: H = diag(1, 0), B = [4,0], H + I = diag(2, 1); o_1 = 2.
  // Step 2, alpha 1/2: H + I = [[2.5,1],[1,2]], B = [9,7]; (H + I)^{-1} [1,2] = [0,1]; o_2 = 7.
  Sequence s = one_head(2, {1, 1, 1, 2}, {1, 0, 1, 1}, {4, 7});
  s.alpha = {1, 0.5};
  const Variant &variant = find_variant("mesa");
  for (const Form &form : variant.forms) {
    const Output out = forward(variant, s, {form.name, Real::f64, 2, variant_params(variant, {{"ridge", "1"}})});
    check_close(out.o, {2, 7}, 64 * epsilon_of(Real::f64));
    check_close(out.state, {9, 7, 1.5, 1, 1, 1}, 0);
  }
}

BOOST_AUTO_TEST_CASE(forms_agree_where_decays_are_rare) {
  // Woodbury blocks of many steps, interrupted by single decays, one of them to 0.
  Sequence s = random_sequence({1, 2, 150, 8, 5}, 85);
  for (size_t t = 0; t < s.alpha.size(); ++t) s.alpha[t] = t % 37 == 5 ? 0.5 : 1;
  s.alpha[60] = 0;
  const Variant &variant = find_variant("mesa");
  const Params params = variant_params(variant);
  const Output reference = forward(variant, s);
  const double kappa = input_condition(variant, s, params);
  for (const Form &form : variant.forms)
    for (int C : {1, 16, 150}) {
      const double error = deviation(forward(variant, s, {form.name, Real::f64, C, params}), reference).largest();
      BOOST_TEST_INFO(form.name << " C=" << C);
      BOOST_TEST(error <= accumulated_terms(s.shape, C) * epsilon_of(Real::f64) * kappa);
    }
}

BOOST_AUTO_TEST_CASE(a_large_ridge_is_gated_linear_attention) {
  // (H + ridge I)^{-1} -> I / ridge with relative error |H| / ridge, |H| <= 40 unit keys.
  Sequence s = random_sequence({1, 1, 40, 6, 4}, 86);
  s.lambda.clear(), s.beta.clear();
  const Variant &variant = find_variant("mesa");
  const Output linear = forward(find_variant("gated_linear"), s);
  Output out = forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, {{"ridge", "1e9"}})});
  double norm = 0; // |B| |q| bounds what the relative error applies to
  for (double v : s.v) norm += std::abs(v);
  for (size_t i = 0; i < out.o.size(); ++i) BOOST_TEST(std::abs(1e9 * out.o[i] - linear.o[i]) <= 40 / 1e9 * norm);
}

BOOST_AUTO_TEST_CASE(beta_weighs_pairs) {
  // A pair of weight 2 equals the pair twice; a pair of weight 0 equals none.
  const Sequence once = one_head(3, {1, 2, 3, 1, 1, 1}, {1, 2, 0.5, -1, 2, 1}, {3, 5, 7});
  const Sequence twice = one_head(3, {1, 2, 1, 1, 1, 1}, {1, 2, 2, 1, 2, 1}, {3, 7, 7});
  Sequence weighed = once;
  weighed.beta = {1, 0, 2};
  for (const Form &form : find_variant("mesa").forms) {
    const Output a = forward(find_variant("mesa"), weighed, {form.name, Real::f64, 2, {}}),
                 b = forward(find_variant("mesa"), twice, {form.name, Real::f64, 2, {}});
    BOOST_TEST(std::abs(a.o[2] - b.o[2]) <= 1e4 * epsilon_of(Real::f64)); // cond(H + ridge I) below 2e3
    check_close(a.state, b.state, 100 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
