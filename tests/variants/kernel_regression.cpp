// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "tests/testing.hpp"
#include <cmath>
namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(kernel_regression)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Zero keys, kappa = exp(0) = 1, ridge 1: o_1 = 4 / 2; then (kappa + I)^{-1} [1,1] = [1/3,1/3], o_2 = (4 + 5) / 3.
  const Sequence s = one_head(2, {1, 1, 3, 1}, {0, 0, 0, 0}, {4, 5});
  const Variant &variant = find_variant("kernel_regression");
  for (const Form &form : variant.forms)
    for (int C : {1, 2}) {
      const Output out = forward(variant, s, {form.name, Real::f64, C, variant_params(variant, {{"ridge", "1"}})});
      check_close(out.o, {2, 3}, 16 * epsilon_of(Real::f64));
    }
}

BOOST_AUTO_TEST_CASE(where_the_kernel_overflows_gradients_vanish) {
  // One pair, k = 30, q = 1, scale 1: kappa(k, k) = exp(900) is infinite, o = exp(30 - 900) v, and so is every gradient.
  const Variant &variant = find_variant("kernel_regression");
  for (Real real : {Real::f32, Real::f64}) {
    const Run run{"chunked", real, 64, variant_params(variant, {{"scale", "1"}})};
    const Sequence found = backward(variant, one_head(1, {1}, {30}, {2}), run, {{3}, {}});
    for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) BOOST_TEST(found[tensor].at(0) == 0, name_of(tensor));
  }
}

BOOST_AUTO_TEST_CASE(with_the_linear_kernel_it_is_intention) {
  const Sequence s = random_sequence({2, 2, 40, 7, 4}, 91);
  const Variant &variant = find_variant("kernel_regression"), &intention = find_variant("intention");
  const Params params = variant_params(variant, {{"ridge", "0.1"}, {"kernel", "linear"}, {"scale", "1"}});
  const Params same = variant_params(intention, {{"ridge", "0.1"}});
  const Output expected = forward(intention, s, {"recurrent", Real::f64, 1, same});
  const double kappa = input_condition(variant, s, params) + input_condition(intention, s, same);
  for (const Form &form : variant.forms) {
    const Output out = forward(variant, s, {form.name, Real::f64, 16, params});
    check_close(out.o, expected.o,
                accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * kappa * max_abs(expected.o));
  }
}

BOOST_AUTO_TEST_CASE(a_small_ridge_interpolates_every_stored_pair) {
  // Keys that kappa distinguishes; the read at a stored key misses its value by at most ridge |(kappa + ridge I)^{-1} V|.
  const int T = 12;
  Sequence s = random_sequence({1, 1, T, 6, 3}, 92);
  for (int t = 0; t < T; ++t) // the last query asks for pair t in turn
    for (int C : {1, 5, T}) {
      for (int j = 0; j < 6; ++j) s.q[(T - 1) * 6 + j] = s.k[t * 6 + j];
      const Variant &variant = find_variant("kernel_regression");
      const Output out =
          forward(variant, s, {"chunked", Real::f64, C, variant_params(variant, {{"ridge", "1e-6"}, {"scale", "4"}})});
      const Dense K(T, 6, s.k), V(T, 3, s.v);
      Dense M = K * transpose(K);
      for (double &z : M.data) z = std::exp(4 * z);
      const double missed = 1e-6 * max_abs((inverse(M + 1e-6 * Dense::identity(T)) * V).data);
      const std::vector<double> o(out.o.end() - 3, out.o.end()), v(s.v.begin() + t * 3, s.v.begin() + (t + 1) * 3);
      check_close(o, v, missed + 1e4 * T * epsilon_of(Real::f64) * max_abs(s.v)); // cond(M) < 1e4, asserted next
      const std::vector<double> spectrum = symmetric_eigenvalues(M);
      BOOST_TEST(spectrum.back() / spectrum.front() < 1e4);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
