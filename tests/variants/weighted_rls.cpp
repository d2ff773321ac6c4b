// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "harness/call/quotients.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(weighted_rls)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // ridge 1. k_1 = [1,0], alpha 1: S_1 = [2,0], P_1 = diag(1/2, 1); o_1 = 2.
  // k_2 = [1,1], alpha 1/2: z = [1/2,1], d = 1/2 + 3/2 = 2, residual 5, S_2 = [2,0] + 5/2 z, P_2 = 2 (P_1 - z z^T / 2);
  // o_2 = 18.
  Sequence s = one_head(2, {1, 1, 4, 2}, {1, 0, 1, 1}, {4, 7});
  s.alpha = {1, 0.5};
  const Variant &variant = find_variant("weighted_rls");
  for (const Form &form : variant.forms) {
    const Output out = forward(variant, s, {form.name, Real::f64, 2, variant_params(variant, {{"ridge", "1"}})});
    check_close(out.o, {2, 18}, 64 * epsilon_of(Real::f64));
    check_close(out.state, {3.25, 2.5, 0.75, -0.5, -0.5, 1}, 16 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(without_decay_it_is_rls) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 83);
  s.alpha.assign(s.alpha.size(), 1);
  const Variant &weighted = find_variant("weighted_rls"), &plain = find_variant("rls");
  for (const char *form : {"recurrent", "chunked"}) {
    const Output a = forward(weighted, s, {form, Real::f64, 32, {}}), b = forward(plain, s, {form, Real::f64, 32, {}});
    const double kappa = input_condition(plain, s, variant_params(plain));
    BOOST_TEST(deviation(a, b).largest() <= accumulated_terms(s.shape, 32) * epsilon_of(Real::f64) * kappa);
  }
}

BOOST_AUTO_TEST_CASE(solves_the_weighted_normal_equations) {
  // Weight of pair i: the product of the alphas after it; of the ridge: of all.
  const Sequence s = random_sequence({1, 1, 30, 7, 4}, 84);
  const Variant &variant = find_variant("weighted_rls");
  const Params params = variant_params(variant, {{"ridge", "0.5"}});
  Dense G = 0.5 * Dense::identity(7), B(4, 7);
  for (int t = 0; t < 30; ++t) {
    const std::vector<double> k(s.k.begin() + t * 7, s.k.begin() + (t + 1) * 7),
        v(s.v.begin() + t * 4, s.v.begin() + (t + 1) * 4);
    G = s.alpha[t] * G + outer(k, k), B = s.alpha[t] * B + outer(v, k);
  }
  const Dense P = inverse(G), S = B * P;
  std::vector<double> expected = S.data;
  expected.insert(expected.end(), P.data.begin(), P.data.end());
  const double bound =
      accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * input_condition(variant, s, params) * max_abs(expected);
  for (const Form &form : variant.forms)
    check_close(forward(variant, s, {form.name, Real::f64, 8, params}).state, expected, bound);
}

BOOST_AUTO_TEST_CASE(winds_up_where_no_key_comes_and_mesa_does_not) {
  // Only e1 is written; alpha = 1/2 doubles P along e2 at every step, exactly.
  Sequence s = one_head(20, std::vector<double>(40, 1), {}, std::vector<double>(20, 1));
  s.shape.Dk = 2, s.k.clear(), s.alpha.assign(20, 0.5);
  for (int t = 0; t < 20; ++t) s.k.push_back(1), s.k.push_back(0);
  const Variant &weighted = find_variant("weighted_rls"), &mesa = find_variant("mesa");
  const Output wound = forward(weighted, s, {"chunked", Real::f64, 16, variant_params(weighted, {{"ridge", "1"}})});
  BOOST_TEST(wound.state[2 + 3] == std::ldexp(1.0, 20));
  BOOST_TEST(max_abs(forward(mesa, s, {"chunked", Real::f64, 16, variant_params(mesa, {{"ridge", "1"}})}).state) <= 2);
}

BOOST_AUTO_TEST_CASE(tiny_gates_lose_every_digit_and_mesa_loses_none) {
  // The eigenvalues of G from the last keys are about 1, 1e-8, 1e-16 ...: from the third step on the condition number
  // of P is above 1 / eps.
  Sequence s = random_sequence({1, 1, 40, 5, 3}, 85);
  s.alpha.assign(40, 1e-8), s.beta.clear();
  const Variant &weighted = find_variant("weighted_rls"), &mesa = find_variant("mesa");
  for (const char *form : {"recurrent", "chunked"}) {
    const std::vector<double> o = forward(weighted, s, {form, Real::f32, 16, {}}).o;
    BOOST_TEST(!(max_difference(o, s.v) <= max_abs(s.v))); // NaN, or larger than all values
    // The read of mesa depends on one pair and the ridge, S = v k^T / (1 + ridge), up to 1e-8 of the previous pair over
    // the ridge.
    const std::vector<double> kept = forward(mesa, s, {form, Real::f32, 16, {}}).o;
    for (int t = 0; t < 40; ++t) {
      double kq = 0;
      for (int j = 0; j < 5; ++j) kq += s.k[t * 5 + j] * s.q[t * 5 + j];
      for (int i = 0; i < 3; ++i)
        BOOST_TEST(std::abs(kept[t * 3 + i] - s.v[t * 3 + i] * kq / 1.01) <=
                   (100 * epsilon_of(Real::f32) + 4e-8) / 0.01 * max_abs(s.v)); // cond(H + ridge I) is 101
    }
  }
}

/// On its way back the antisymmetric part of P's gradient is divided by every alpha. Here 1 / alpha to the power of 200
/// is 1e22, and this part would exceed all digits of the rest.
BOOST_AUTO_TEST_CASE(the_gradient_of_the_first_state_keeps_its_digits, *boost::unit_test::precondition(tape_runs)) {
  GradientCase c = case_of(find_variant("weighted_rls"), {1, 1, 200, 4, 3}, 85);
  c.s.alpha = Stream(85, "alpha").uniforms(200, 0.6, 1);
  const Sequence taped = gradient(c.variant, c.s, c.params, c.weights);
  const auto by = [&](Real real) { return backward(c.variant, c.s, {"chunked", real, 64, c.params}, c.weights).state; };
  const std::vector<double> wide = by(Real::f64), narrow = by(Real::f32);
  const Quotients quotients(c.variant, c.s, c.params, c.weights);
  double largest = 0, tape_error = 0, wide_error = 0, narrow_error = 0;
  for (size_t i = 0; i < c.s.state.size(); ++i) {
    std::vector<double> direction(c.s.state.size(), 0.0);
    direction[i] = 1;
    direction = symmetrised(c.variant, c.s.shape, direction);
    Sequence moved;
    moved.state = direction;
    const double wanted = *quotients.along(moved).derivative(1e9); // one-sided limits differ by rounding
    const auto error = [&](const std::vector<double> &found) { return std::fabs(inner(found, direction) - wanted); };
    largest = std::fmax(largest, std::fabs(wanted)), tape_error = std::fmax(tape_error, error(taped.state));
    wide_error = std::fmax(wide_error, error(wide)), narrow_error = std::fmax(narrow_error, error(narrow));
  }
  BOOST_TEST_MESSAGE("of " << largest << ": tape " << tape_error << ", f64 " << wide_error << ", f32 " << narrow_error);
  BOOST_TEST(tape_error <= 1e-11 * largest);
  BOOST_TEST(wide_error <= 1e-11 * largest);
  BOOST_TEST(narrow_error <= 1e-3 * largest);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
