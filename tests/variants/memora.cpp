// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {
Params memora_with(const Assignments &given) { return variant_params(find_variant("memora"), given); }
} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(memora)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Two value channels, one key channel, mass 6. W_0 = [3,3]; lr = log 2. Step 1, k = 1: e = [3,4] - [3,3] = [0,1]
  // doubles the second weight against the first: W_1 = [2,4]. Step 2, k = -1, e = [0,0] - -[2,4] = [2,4], times k:
  // factors 1/4 and 1/16 on the roots of W_1 (alpha = 1/2) or 2^{-2} 2^{1/2} and 2^{-4} 4^{1/2}, a ratio of 2^{3/2}.
  const double ratio = 2 * std::sqrt(2.0);
  Sequence s = one_head(2, {1, 1}, {1, -1}, {3, 4, 0, 0});
  s.beta = {1, 1}, s.alpha = {1, 0.5};
  const Params params = memora_with({{"mass", "6"}, {"lr", "0.69314718055994531"}});
  const Output out = forward(find_variant("memora"), s, {"recurrent", Real::f64, 1, params});
  check_close(out.o, {2, 4, 6 * ratio / (1 + ratio), 6 / (1 + ratio)}, 32 * epsilon_of(Real::f64));
  BOOST_TEST(std::fabs(out.state[0] - out.state[1] - std::log(ratio)) <= 32 * epsilon_of(Real::f64));
}

/// The weights after every step, one read per key channel.
std::vector<double> weights_after(const Sequence &s, int steps, const Params &params) {
  Sequence part = slice_steps(s, 0, steps);
  std::vector<double> weights;
  for (int j = 0; j < s.shape.Dk; ++j) {
    for (size_t i = 0; i < part.q.size(); ++i) part.q[i] = i % size_t(s.shape.Dk) == size_t(j) ? 1 : 0;
    const Output out = forward(find_variant("memora"), part, {"recurrent", Real::f64, 1, params});
    weights.insert(weights.end(), out.o.end() - s.shape.Dv, out.o.end());
  }
  return weights;
}

BOOST_AUTO_TEST_CASE(weights_are_positive_and_their_sum_stays) {
  Sequence s = random_sequence({1, 1, 25, 5, 3}, 67);
  for (double &x : s.v) x *= 100; // long steps
  for (double mass : {0.5, 3.0, 40.0}) {
    const Params params = memora_with({{"mass", std::to_string(mass)}});
    for (int steps : {1, 2, 25}) {
      double sum = 0;
      for (double w : weights_after(s, steps, params)) {
        BOOST_TEST(w >= 0);
        sum += w;
      }
      BOOST_TEST(std::fabs(sum - mass) <= 100 * epsilon_of(Real::f64) * mass);
    }
  }
}

BOOST_AUTO_TEST_CASE(steps_multiply_the_powers_of_the_weights) { // Eq 27 itself, on weights
  const Sequence s = random_sequence({1, 1, 9, 4, 3}, 68);
  const Params params = memora_with({{"mass", "5"}, {"lr", "2"}});
  const std::vector<double> before = weights_after(s, 8, params), after = weights_after(s, 9, params); // [Dk,Dv]
  std::vector<double> expected(12);
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    double error = s.v[8 * 3 + i];
    for (size_t j = 0; j < 4; ++j) error -= before[j * 3 + i] * s.k[8 * 4 + j];
    for (size_t j = 0; j < 4; ++j)
      sum += expected[j * 3 + i] =
          std::pow(before[j * 3 + i], s.alpha[8]) * std::exp(2 * s.beta[8] * error * s.k[8 * 4 + j]);
  }
  for (double &x : expected) x *= 5 / sum;
  check_close(after, expected, 100 * epsilon_of(Real::f64) * max_abs(expected));
}

BOOST_AUTO_TEST_CASE(without_steps_all_weights_are_equal) {
  Sequence s = random_sequence({1, 2, 7, 4, 3}, 69);
  std::fill(s.beta.begin(), s.beta.end(), 0.0), std::fill(s.q.begin(), s.q.end(), 1.0);
  check_close(forward(find_variant("memora"), s).o, std::vector<double>(2 * 7 * 3, 1.0), 8 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
