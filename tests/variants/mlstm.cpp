// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(mlstm)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // i = 2, 1 and f = 1/2. C_1 = 6, n_1 = 2: o_1 = 6/2; M_1 = 2.  C_2 = 3 + 5, n_2 = 1 + 1, M_2 = max(0.5*2, 1) = 1; q_2
  // = 0.1 reads n_2 q_2 = 0.2 < 1, so that o_2 = 0.8 undivided.  The state is C/M, n/M, M.
  Sequence s = one_head(2, {1, 0.1}, {1, 1}, {3, 5});
  s.alpha = {0.5, 0.5}, s.beta = {2, 1};
  const Output out = forward(find_variant("mlstm"), s);
  check_close(out.o, {3, 0.8}, 4 * epsilon_of(Real::f64));
  check_close(out.state, {8, 2, 1}, 0);
  const Output first = forward(find_variant("mlstm"), slice_steps(s, 0, 1));
  check_close(first.state, {3, 1, 2}, 0);
}

BOOST_AUTO_TEST_CASE(stabilised_gates_are_the_plain_recurrence) {
  const int T = 60, D = 4;
  const Sequence s = random_sequence({1, 1, T, D, 1}, 4);
  std::vector<double> C(D), n(D), expected;
  for (int t = 0; t < T; ++t) {
    double sum = 0, weight = 0;
    for (int j = 0; j < D; ++j) {
      C[j] = s.alpha[t] * C[j] + s.beta[t] * s.v[t] * s.k[t * D + j];
      n[j] = s.alpha[t] * n[j] + s.beta[t] * s.k[t * D + j];
      sum += C[j] * s.q[t * D + j], weight += n[j] * s.q[t * D + j];
    }
    expected.push_back(sum / std::fmax(std::fabs(weight), 1));
  }
  const Variant &variant = find_variant("mlstm");
  const double kappa = input_condition(variant, s, variant_params(variant));
  check_close(forward(variant, s).o, expected,
              accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * kappa * max_abs(expected));
}

BOOST_AUTO_TEST_CASE(gates_of_one_are_linear_attention_divided) { // n_t . q_t is linear attention's read of values 1
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 6), ones = s;
  s.alpha.assign(s.alpha.size(), 1), s.beta.assign(s.beta.size(), 1);
  std::fill(ones.v.begin(), ones.v.end(), 1.0);
  std::vector<double> expected = forward(find_variant("linear"), s).o;
  const std::vector<double> weight = forward(find_variant("linear"), ones).o;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] /= std::fmax(std::fabs(weight[i]), 1);
  const Variant &variant = find_variant("mlstm");
  const double kappa = input_condition(variant, s, variant_params(variant));
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(variant, s, {form, Real::f64, 16, {}}).o, expected,
                accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * kappa * max_abs(expected));
}

BOOST_AUTO_TEST_CASE(huge_and_vanishing_gates_stay_finite) {
  // One value and positive keys: while the divisor is above 1 every read returns it, in float, however large the input
  // gates.
  const Variant &variant = find_variant("mlstm");
  Sequence s = random_sequence({1, 1, 200, 2, 1}, 4);
  for (double &k : s.k) k = std::fabs(k);
  s.q = s.k;
  for (double &v : s.v) v = 7;
  for (double &i : s.beta) i *= 1e37;
  s.alpha.assign(200, 1);
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(variant, s, {form, Real::f32, 32, {}}).o, s.v, 7 * 3 * 200 * epsilon_of(Real::f32));
  // Nothing is written after the first step and everything is forgotten: M underflows in float, and reads go to 0.
  s.alpha.assign(200, 1e-8);
  for (int t = 1; t < 200; ++t) s.beta[t] = 0;
  for (const char *form : {"recurrent", "chunked"})
    BOOST_TEST(forward(variant, s, {form, Real::f32, 32, {}}).o.back() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
