// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>
namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(vla)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Identity features, lambda0 1, u = w. Step 1: x = [1,0], A_1 = diag(1/2, 1), a = [1,0], S_1 = [4,0]; o_1 = 4.
  // Step 2: x = [.6,.8], A_2 = diag(1/2, 1/2), a = x, residual 7.4 - 2.4 = 5, S_2 = [7,4]; o_2 = 15.
  Sequence s = one_head(2, {1, 1, 1, 2}, {2, 0, 3, 4}, {4, 7.4});
  s.w = {1, 0, 0, 1};
  const Variant &variant = find_variant("vla");
  const auto run = [&](const std::string &form, const char *refresh, const char *eta) {
    const Params params = variant_params(
        variant, {{"phi", "identity"}, {"lambda0", "1"}, {"refresh", refresh}, {"eta", eta}, {"u_norm", "0"}});
    return forward(variant, s, {form, Real::f64, 2, params});
  };
  const double eps = epsilon_of(Real::f64);
  for (const Form &form : variant.forms) {
    const Output out = run(form.name, "0", "1");
    check_close(out.o, {4, 15}, 32 * eps);
    check_close(out.state, {7, 4, 0.5, 0, 0, 0.5, 5, 4, 0, 0}, 32 * eps);
    // With a refresh every second step, eta I was added before that step's write; with every third, not yet.
    check_close(run(form.name, "2", "0.5").state, {7, 4, 1, 0, 0, 1, 5, 4, 0, 0}, 32 * eps);
    check_close(run(form.name, "3", "0.5").state, {7, 4, 0.5, 0, 0, 0.5, 5, 4, 2, 0}, 32 * eps);
  }
}

BOOST_AUTO_TEST_CASE(elu_features_divide_by_their_running_sum) {
  // Zero keys and queries: phi = [1,1], x = [1,1] / sqrt 2. o_1 = v_1 sqrt 2 / 2, o_2 = v_2 sqrt 2 / 4:
  // overwritten, and halved.
  Sequence s = one_head(2, {0, 0, 0, 0}, {0, 0, 0, 0}, {3, 5});
  for (const Form &form : find_variant("vla").forms)
    check_close(forward(find_variant("vla"), s, {form.name, Real::f64, 2, {}}).o,
                {3 * std::sqrt(0.5), 5 * std::sqrt(0.125)}, 64 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(without_a_penalty_it_is_nlms_not_linear_attention) {
  // u = 0 leaves A = I / lambda0 (+ refreshes), so that a_t = x_t (claims.md vla-remark-u0-linear-attention).
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 93);
  s.w.assign(s.w.size(), 0);
  const Variant &variant = find_variant("vla"), &nlms = find_variant("nlms");
  const Params identity = variant_params(variant, {{"phi", "identity"}});
  const double bound = 4 * accumulated_terms(s.shape, 32) * epsilon_of(Real::f64) * input_condition(nlms, s, {});
  const Output expected = forward(nlms, s);
  BOOST_TEST(max_difference(expected.o, forward(find_variant("linear"), s).o) > 1);
  for (const Form &form : variant.forms)
    check_close(forward(variant, s, {form.name, Real::f64, 32, identity}).o, expected.o, bound * max_abs(expected.o));

  // Algorithm 1 itself: NLMS on unit features, divided by phi(q) . sum phi(k).
  Sequence features = s;
  for (auto *x : {&features.k, &features.q})
    for (double &y : *x) y = y > 0 ? y + 1 : std::exp(y);
  const Sequence raw = features;
  normalise_rows(features.k, 9);
  Output divided = forward(nlms, features);
  for (size_t head = 0; head < 4; ++head) {
    std::vector<double> sum(9);
    for (size_t t = head * 70; t < (head + 1) * 70; ++t) {
      double scale = 0;
      for (int j = 0; j < 9; ++j) scale += raw.q[t * 9 + j] * (sum[j] += raw.k[t * 9 + j]);
      for (int i = 0; i < 5; ++i) divided.o[t * 5 + i] /= scale;
    }
  }
  const double kappa = input_condition(nlms, features, {});
  for (const Form &form : variant.forms)
    check_close(forward(variant, s, {form.name, Real::f64, 32, {}}).o, divided.o,
                4 * accumulated_terms(s.shape, 32) * epsilon_of(Real::f64) * kappa * max_abs(divided.o));
}

BOOST_AUTO_TEST_CASE(the_step_count_is_handed_over) {
  // Refreshes of period 7 must fall on the same steps when the pass is cut at 10.
  const Sequence s = random_sequence({1, 2, 24, 6, 4}, 94);
  const Variant &variant = find_variant("vla");
  const Params params = variant_params(variant, {{"refresh", "7"}, {"eta", "3"}});
  Sequence rest = slice_steps(s, 10, 24);
  const double bound = 2 * accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * input_condition(variant, s, params);
  for (const Form &form : variant.forms) {
    const Run run{form.name, Real::f64, 8, params};
    const Output whole = forward(variant, s, run);
    rest.state = forward(variant, slice_steps(s, 0, 10), run).state;
    check_close(forward(variant, rest, run).state, whole.state, bound * max_abs(whole.state));
  }
}

BOOST_AUTO_TEST_CASE(the_divisor_is_at_least_one_in_ten_thousand) {
  // k = q = -20: phi = e^-20, phi . phi = e^-40 < 1e-4. x = a = 1, so S = v, and o = 3 e^-20 / 1e-4.
  for (const Form &form : find_variant("vla").forms) {
    const double o = forward(find_variant("vla"), one_head(1, {-20}, {-20}, {3}), {form.name, Real::f64, 1, {}}).o[0];
    BOOST_TEST(std::fabs(o / (3 * std::exp(-20.0) * 1e4) - 1) < 64 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
