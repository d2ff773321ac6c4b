// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <algorithm>
namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(intention)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // ridge 1. Step 1: (H + I)^{-1} = diag(1/2, 1), B = [4,0]; o_1 = 2.
  // Step 2: H + I = [[3,1],[1,2]], B = [11,7]; (H + I)^{-1} [3,1] = [1,0]; o_2 = 11.
  const Sequence s = one_head(2, {1, 1, 3, 1}, {1, 0, 1, 1}, {4, 7});
  const Variant &variant = find_variant("intention");
  for (const Form &form : variant.forms) {
    const Output out = forward(variant, s, {form.name, Real::f64, 2, variant_params(variant, {{"ridge", "1"}})});
    check_close(out.o, {2, 11}, 64 * epsilon_of(Real::f64));
    check_close(out.state, {11, 7, 2, 1, 1, 1}, 0);
  }
}

BOOST_AUTO_TEST_CASE(a_small_ridge_gives_least_squares_and_before_that_the_interpolant_of_least_norm) {
  // 003 Eq 11 by the pseudo-inverse, at t < Dk and t >= Dk. The ridge moves S by the relative size ridge / sigma_min^2.
  const int T = 24, Dk = 8, Dv = 3;
  const double ridge = 1e-7;
  const Sequence s = random_sequence({1, 1, T, Dk, Dv}, 87);
  const Variant &variant = find_variant("intention");
  const Params params = variant_params(variant, {{"ridge", "1e-7"}});
  const Output out = forward(variant, s, {"recurrent", Real::f64, 1, params});
  const double rounding =
      accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * input_condition(variant, s, params) * max_abs(out.o);
  for (int t : {3, 5, 16, 24}) {
    const Dense K(t, Dk, {s.k.begin(), s.k.begin() + t * Dk}), V(t, Dv, {s.v.begin(), s.v.begin() + t * Dv});
    const Dense S = transpose(V) * transpose(pseudo_inverse(K)),
                q(Dk, 1, {s.q.begin() + (t - 1) * Dk, s.q.begin() + t * Dk});
    const double least = singular_values(K)[std::min(t, Dk) - 1];
    const std::vector<double> o(out.o.begin() + (t - 1) * Dv, out.o.begin() + t * Dv);
    check_close(o, (S * q).data, ridge / (least * least) * spectral_norm(S) + rounding);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
