// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>
namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(vla_unnormalized)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // lambda0 1, u = w. Step 1: A_1 = diag(1/2, 1), a = [1/2,0], S_1 = [2,0]; o_1 = 2.
  // Step 2: A_2 = diag(1/2, 1/2), a = [1/2,1/2], residual 7 - 2 = 5, S_2 = [4.5,2.5]; o_2 = 14.
  Sequence s = one_head(2, {1, 1, 2, 2}, {1, 0, 1, 1}, {4, 7});
  s.w = {1, 0, 0, 1};
  const Variant &variant = find_variant("vla_unnormalized");
  for (const Form &form : variant.forms) {
    const Output out =
        forward(variant, s, {form.name, Real::f64, 2, variant_params(variant, {{"lambda0", "1"}, {"refresh", "0"}})});
    check_close(out.o, {2, 14}, 0);
    check_close(out.state, {4.5, 2.5, 0.5, 0, 0, 0.5, 2, 1, 0, 0}, 0);
  }
}

BOOST_AUTO_TEST_CASE(a_state_that_counts_no_steps_is_refused) {
  const Variant &variant = find_variant("vla_unnormalized"); // a refresh every 20 steps
  const Params params = variant_params(variant);
  Sequence s = random_sequence({1, 2, 30, 4, 3}, 96);
  s.state = forward(variant, s, {"recurrent", Real::f64, 1, params}).state;
  const size_t counter = s.state.size() - 4; // of the second head
  const OutputWeights weights{std::vector<double>(s.v.size(), 1), std::vector<double>(s.state.size(), 0)};
  for (double count : {-1.0, 20.0, 1e30, std::nan("")}) {
    s.state[counter] = count;
    for (const char *form : {"recurrent", "chunked"})
      BOOST_CHECK_THROW(forward(variant, s, {form, Real::f32, 8, params}), Error);
    BOOST_CHECK_THROW(backward(variant, s, {"chunked", Real::f32, 8, params}, weights), Error);
  }
  s.state[counter] = 19;
  for (const char *form : {"recurrent", "chunked"}) forward(variant, s, {form, Real::f32, 8, params});
}

BOOST_AUTO_TEST_CASE(with_the_key_as_penalty_it_is_rls) {
  // 004 Eq 6 with u = k (claims.md rls-eq6-post-update); keys of any length.
  Sequence s = random_sequence({2, 2, 60, 8, 5}, 95, Keys::gaussian);
  s.w.clear();
  const Variant &variant = find_variant("vla_unnormalized"), &rls = find_variant("rls");
  const Params params = variant_params(rls, {{"ridge", "0.1"}});
  const Output expected = forward(rls, s, {"recurrent", Real::f64, 1, params});
  const double bound = 2 * accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * input_condition(rls, s, params);
  for (const Form &form : variant.forms) {
    const Output out = forward(
        variant, s, {form.name, Real::f64, 16, variant_params(variant, {{"lambda0", "0.1"}, {"refresh", "0"}})});
    check_close(out.o, expected.o, bound * max_abs(expected.o));
  }
}

BOOST_AUTO_TEST_CASE(with_elu_features_it_overflows_as_the_paper_says) {
  // 004 §4.2: |x|^2 / lambda0 of about 2 Dk / 0.1 multiplies the state at the first steps.
  const Sequence s = random_sequence({1, 1, 60, 16, 4}, 96);
  const Variant &variant = find_variant("vla_unnormalized");
  for (const Form &form : variant.forms) {
    const Output out =
        forward(variant, s, {form.name, Real::f32, 16, variant_params(variant, {{"phi", "elu"}, {"u_norm", "0.25"}})});
    BOOST_TEST(std::any_of(out.o.begin(), out.o.end(), [](double x) { return !std::isfinite(x); }));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
