// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {
const Variant &layer() { return find_variant("local_linear"); }
} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(local_linear)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Dk = 1, bandwidth 1, ridge 1/4. Step 1 has d = 0 and reads v_1 = 3. Step 2 has d = (-1, 0) with weights (w, 1), w =
  // 1/e: N = [[1 + w, -w], [-w, w + 1/4]], R = (3 w + 7, -3 w); the constant is ((3 w + 7)(w + 1/4) - 3 w^2) / det N.
  const double w = std::exp(-1.0), det = (1 + w) * (w + 0.25) - w * w,
               expected = ((3 * w + 7) * (w + 0.25) - 3 * w * w) / det;
  const Sequence s = one_head(2, {1, 2}, {1, 2}, {3, 7});
  const Params params = variant_params(layer(), {{"bandwidth", "1"}, {"ridge", "0.25"}});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(layer(), s, {form, Real::f64, 1, params}).o, {3, expected}, 256 * epsilon_of(Real::f64));
}

/// v = f(k) with f of the given degree, and o_t - f(q_t) at steps from `first`.
double misfit(int degree, const Assignments &set, int first, const char *form) {
  Sequence s = random_sequence({1, 1, 60, 3, 2}, 22);
  const auto f = [&](const double *x, int c) {
    const double affine = 2 + c + x[0] - 3 * x[1] + (c ? 0.5 : -1) * x[2];
    return degree == 1 ? affine : affine + x[0] * x[0] - 2 * x[1] * x[2] + c * x[1] * x[1];
  };
  double worst = 0;
  for (int t = 0; t < 60; ++t)
    for (int c = 0; c < 2; ++c) s.v[t * 2 + c] = f(&s.k[t * 3], c);
  const Output out = forward(layer(), s, {form, Real::f64, 4, variant_params(layer(), set)});
  for (int t = first; t < 60; ++t)
    for (int c = 0; c < 2; ++c) worst = std::max(worst, std::fabs(out.o[t * 2 + c] - f(&s.q[t * 3], c)));
  return worst;
}

BOOST_AUTO_TEST_CASE(
    affine_data_are_reproduced) { // 003 §4: p = 1 is exact on affine maps once the ridge has gone, p = 0 is not
  // A ridge r changes the read by at most r |slopes| |d| / (smallest eigenvalue of the slopes' moments). From t = 20 on
  // this is below 1e-12 * 5 * 2 / 1e-2. Rounding is bounded by the condition number of N, below 1e4.
  for (const char *form : {"recurrent", "parallel"})
    BOOST_TEST(misfit(1, {{"ridge", "1e-12"}}, 20, form) < 1e-9 + 1e4 * 100 * epsilon_of(Real::f64));
  BOOST_TEST(misfit(1, {{"ridge", "1e9"}}, 20, "parallel") > 0.1); // no slope left: Nadaraya-Watson
}

BOOST_AUTO_TEST_CASE(order_two_reproduces_quadratic_data_and_order_one_does_not) {
  // On the unit sphere x.x = 1 makes three monomials and the constant dependent: with unit keys N is singular. The
  // ridge then chooses a solution; on the sphere, where the queries lie as well, all solutions agree up to the effect
  // of the ridge. Keys off the sphere are tested below.
  Sequence s = random_sequence({1, 1, 80, 2, 1}, 23, Keys::gaussian);
  for (size_t t = 0; t < 80; ++t)
    s.v[t] = 1 + s.k[2 * t] - s.k[2 * t + 1] * s.k[2 * t + 1] + 2 * s.k[2 * t] * s.k[2 * t + 1];
  for (const char *form : {"recurrent", "parallel"}) {
    const Output quadratic =
        forward(layer(), s, {form, Real::f64, 8, variant_params(layer(), {{"order", "2"}, {"ridge", "1e-12"}})});
    const Output linear = forward(layer(), s, {form, Real::f64, 8, variant_params(layer(), {{"ridge", "1e-12"}})});
    double exact = 0, missed = 0;
    for (size_t t = 40; t < 80; ++t) {
      const double target = 1 + s.q[2 * t] - s.q[2 * t + 1] * s.q[2 * t + 1] + 2 * s.q[2 * t] * s.q[2 * t + 1];
      exact = std::max(exact, std::fabs(quadratic.o[t] - target)),
      missed = std::max(missed, std::fabs(linear.o[t] - target));
    }
    BOOST_TEST(exact < 1e-8); // ridge 1e-12 over moments of at least 1e-3, times slopes of size 3
    BOOST_TEST(missed > 0.1);
  }
}

BOOST_AUTO_TEST_CASE(a_heavy_ridge_leaves_softmax_over_unit_keys) { // 003 Eq 51, 54: no slope is p = 0
  const Sequence s = random_sequence({1, 2, 50, 6, 4}, 24);
  const Params params = variant_params(layer(), {{"ridge", "1e12"}});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(layer(), s, {form, Real::f64, 8, params}).o, forward(find_variant("softmax_qknorm"), s).o,
                (50 * 4 * 50 / 1e12 + accumulated_terms(s.shape, 8) * epsilon_of(Real::f64)) *
                    max_abs(s.v)); // slope <= sum |d v| / ridge, |d| <= 2
}

BOOST_AUTO_TEST_CASE(both_orders_agree_between_the_forms) {
  for (const char *order : {"1", "2"}) {
    const Sequence s = random_sequence({2, 1, 70, 4, 3}, 25, Keys::gaussian);
    const Params params = variant_params(layer(), {{"order", order}});
    const Output reference = forward(layer(), s, {"recurrent", Real::f64, 1, params});
    for (int chunk : {1, 3, 8, 64})
      for (Real real : {Real::f32, Real::f64}) {
        const double error = deviation(forward(layer(), s, {"parallel", real, chunk, params}), reference).largest();
        const double bound =
            accumulated_terms(s.shape, chunk) * epsilon_of(real) * input_condition(layer(), s, params, 2);
        BOOST_TEST_INFO("order " << order << " C=" << chunk << " " << name_of(real) << ": error " << error << ", bound "
                                 << bound);
        BOOST_TEST(error <= bound);
      }
  }
}

BOOST_AUTO_TEST_CASE(its_condition_is_that_of_the_slopes_equations) {
  // Dk = 1, bandwidth 1, queries 0. Step 1 has no slope and reads 3. Step 2 sees x = (1, -1) with equal weights: the
  // mean value is 5 and the mean key 0, so that the read changes only as the mean value does.
  const Sequence even = one_head(2, {0, 0}, {1, -1}, {3, 7});
  const Params light = variant_params(layer(), {{"bandwidth", "1"}, {"ridge", "1e-9"}});
  BOOST_TEST(layer().solved_condition(even, light) == 1, boost::test_tools::tolerance(1e-12));
  // If a step sees fewer keys than there are slopes, the ridge determines M. A bound from changes of the inputs alone
  // would be 1e-13 at the ridge 1e-6.
  const Sequence s = random_sequence({1, 1, 24, 8, 4}, 27, Keys::gaussian);
  for (const char *ridge : {"0.1", "1e-6", "1e-12"}) {
    const Params params = variant_params(layer(), {{"ridge", ridge}});
    const Output reference = forward(layer(), s, {"recurrent", Real::f64, 1, params});
    const double error = deviation(forward(layer(), s, {"parallel", Real::f64, 8, params}), reference).largest(),
                 allowed =
                     accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * input_condition(layer(), s, params, 2);
    BOOST_TEST(error <= allowed, ridge);
  }
}

BOOST_AUTO_TEST_CASE(
    keys_far_from_the_query_still_give_their_mean) { // weights that underflow are scaled by the largest
  const Sequence s = one_head(2, {100, 100}, {0, 0}, {3, 5});
  const Params params = variant_params(layer(), {{"bandwidth", "1"}});
  for (const char *form : {"recurrent", "parallel"})
    for (Real real : {Real::f32, Real::f64})
      check_close(forward(layer(), s, {form, real, 1, params}).o, {3, 4}, 32 * epsilon_of(real));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
