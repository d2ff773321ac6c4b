// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(efla)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // beta |k|^2 = log 2 at |k|^2 = 5, log 4 at 2: g = (1/2) / 5 = 0.1, then (3/4) / 2 = 0.375.
  // S_1 = 0.1 * 10 [1,2] = [1,2]; o_1 = 3. Step 2 reads -1, the residual is 4, S_2 = [1,2] + 0.375 * 4 [1,-1] = [2.5,0.5].
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {10, 3});
  s.beta = {std::log(2) / 5, std::log(4) / 2};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("efla"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {3, 8}, 16 * epsilon_of(Real::f64));
    check_close(out.state, {2.5, 0.5}, 16 * epsilon_of(Real::f64));
  }
}

/// Keys of squared length `square`.
Sequence with_keys(Sequence s, double square) {
  for (size_t t = 0; t < s.beta.size(); ++t) {
    double sum = 0;
    for (int j = 0; j < s.shape.Dk; ++j) sum += s.k[t * s.shape.Dk + j] * s.k[t * s.shape.Dk + j];
    for (int j = 0; j < s.shape.Dk; ++j) s.k[t * s.shape.Dk + j] *= std::sqrt(square / sum);
  }
  return s;
}

BOOST_AUTO_TEST_CASE(is_delta_net_with_the_step_of_the_exact_flow) {
  for (double square : {1e-6, 0.3, 1.0, 40.0}) {
    const Sequence s = with_keys(random_sequence({2, 2, 70, 9, 5}, 41), square);
    Sequence other = s;
    for (double &beta : other.beta) beta = -std::expm1(-beta * square) / square;
    check_reduction("delta_net", other, "efla", s);
  }
}

BOOST_AUTO_TEST_CASE(at_small_steps_it_is_delta_net_to_half_of_beta_k_squared) {
  // One write to an empty state is g v; the delta rule's is beta v. g / beta = 1 - x/2 + x^2/6 - ..., x = beta |k|^2.
  for (double beta : {1e-2, 1e-4, 1e-6}) {
    Sequence s = one_head(1, {1, 0}, {2, 1}, {3});
    s.beta = {beta};
    const double x = 5 * beta, mine = forward(find_variant("efla"), s).o[0],
                 its = forward(find_variant("delta_net"), s).o[0];
    BOOST_TEST(std::fabs((its - mine) / its - x / 2) <= x * x / 6 + 4 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(over_a_long_time_it_is_nlms) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 42);
  s.beta.assign(s.beta.size(), 1e4); // exp(-1e4) is 0
  check_reduction("nlms", s, "efla", s);
}

BOOST_AUTO_TEST_CASE(two_times_at_one_key_are_their_sum) { // this holds for a flow, not for Euler steps
  Sequence s = one_head(2, {0, 0, 1, 2}, {1, 2, 1, 2}, {7, 7}), once = one_head(1, {1, 2}, {1, 2}, {7});
  s.beta = {0.125, 0.25}, once.beta = {0.375}, s.state = once.state = {3, -4};
  const double bound = 16 * epsilon_of(Real::f64);
  check_close({forward(find_variant("efla"), s).o[1]}, forward(find_variant("efla"), once).o, 7 * bound);
  BOOST_TEST(std::fabs(forward(find_variant("delta_net"), s).o[1] - forward(find_variant("delta_net"), once).o[0]) > 1);
}

BOOST_AUTO_TEST_CASE(no_step_is_too_long) { // Euler's method diverges from beta |k|^2 = 2 on
  Sequence s = random_sequence({1, 1, 200, 6, 4}, 43);
  s.beta.assign(s.beta.size(), 50);
  BOOST_TEST(max_abs(forward(find_variant("efla"), s).state) < 200 * max_abs(s.v));
  BOOST_TEST(max_abs(forward(find_variant("delta_net"), s).state) > 1e30);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
