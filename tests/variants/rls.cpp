// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(rls)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // ridge 1, P_0 = I. k_1 = [1,0]: z = [1,0], d = 2, S_1 = [2,0], P_1 = diag(1/2, 1); o_1 = 2.
  // k_2 = [1,1]: z = [1/2,1], d = 5/2, residual 7 - 2 = 5, S_2 = [2,0] + 2 z = [3,2], P_2 = P_1 - z z^T / d; o_2 = 11.
  const Sequence s = one_head(2, {1, 1, 3, 1}, {1, 0, 1, 1}, {4, 7});
  const Variant &variant = find_variant("rls");
  for (const Form &form : variant.forms) {
    const Output out = forward(variant, s, {form.name, Real::f64, 2, variant_params(variant, {{"ridge", "1"}})});
    check_close(out.o, {2, 11}, 32 * epsilon_of(Real::f64));
    check_close(out.state, {3, 2, 0.4, -0.2, -0.2, 0.6}, 8 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(is_intention_and_mesa_on_every_prefix) {
  Sequence s = random_sequence({2, 2, 40, 7, 4}, 81);
  s.alpha.clear(), s.beta.clear(); // mesa then has no decay and no weights
  for (const char *ridge : {"1e-4", "0.01", "1"}) {
    const Variant &rls = find_variant("rls");
    const Params params = variant_params(rls, {{"ridge", ridge}});
    const Output expected = forward(rls, s, {"recurrent", Real::f64, 1, params});
    const double bound = 2 * accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * input_condition(rls, s, params);
    for (const char *name : {"rls", "intention", "mesa"})
      for (const Form &form : find_variant(name).forms) {
        const Output out = forward(find_variant(name), s, {form.name, Real::f64, 16, params});
        BOOST_TEST_INFO(name << " " << form.name << " ridge " << ridge);
        BOOST_TEST(max_difference(out.o, expected.o) <= bound * max_abs(expected.o));
      }
  }
}

BOOST_AUTO_TEST_CASE(its_solution_is_the_ridge_solution_of_the_batch) {
  const Sequence s = random_sequence({1, 1, 30, 7, 4}, 82);
  const Variant &variant = find_variant("rls");
  const Params params = variant_params(variant, {{"ridge", "0.5"}});
  const Output out = forward(variant, s, {"chunked", Real::f64, 8, params});
  const Dense K(30, 7, s.k), V(30, 4, s.v);
  const Dense P = inverse(transpose(K) * K + 0.5 * Dense::identity(7)), S = transpose(V) * K * P;
  std::vector<double> expected = S.data;
  expected.insert(expected.end(), P.data.begin(), P.data.end());
  check_close(out.state, expected,
              accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * input_condition(variant, s, params) *
                  max_abs(expected));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
