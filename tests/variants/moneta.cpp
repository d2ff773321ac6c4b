// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {
Params moneta_with(const Assignments &given) { return variant_params(find_variant("moneta"), given); }
} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(moneta)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Two value channels, one key channel; p = 3, r = 4, lr = 1/3, so that a write is |e|^2 sign(e) beta k. Step 1: W_0 =
  // 0, e = [1,-2], A_1 = [1,-4] beta with beta = 1/2: [0.5,-2]. |A_1|_4^4 = 1/16 + 16, W_1 = A_1 / sqrt(16.0625).
  // Step 2, k = 2: the value is 2 W_1 + [3,1], e = [3,1]; A_2 = A_1 / 2 + [9,1] 2 / 4 = [4.75,-0.5]. W_2 is A_2 over
  // the root of 4.75^4 + 1/16.
  const double first = std::sqrt(16.0625), second = std::sqrt(std::pow(4.75, 4) + 0.0625);
  Sequence s = one_head(2, {1, -1}, {1, 2}, {1, -2, 1 / first + 3, -4 / first + 1});
  s.beta = {0.5, 0.25}, s.alpha = {1, 0.5};
  const Output out =
      forward(find_variant("moneta"), s, {"recurrent", Real::f64, 1, moneta_with({{"lr", "0.33333333333333333"}})});
  check_close(out.o, {0.5 / first, -2 / first, -4.75 / second, 0.5 / second}, 8 * epsilon_of(Real::f64));
  check_close(out.state, {4.75, -0.5}, 32 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(squares_and_no_norm_are_the_delta_rule) { // with twice the step size: the slope of e^2 is 2 e
  const Sequence s = random_sequence({2, 2, 60, 6, 4}, 64);
  const Assignments plain{{"p", "2"}, {"r", "2"}, {"lr", "0.5"}};
  check_reduction("leaky_lms", s, "moneta", s, {}, plain);
  Sequence ungated = s;
  std::fill(ungated.alpha.begin(), ungated.alpha.end(), 1.0);
  check_reduction("delta_net", ungated, "moneta", ungated, {}, plain);
}

BOOST_AUTO_TEST_CASE(degree_one_writes_signs) { // as yaad does where errors are longer than its threshold of 1
  Sequence s = random_sequence({1, 2, 40, 5, 3}, 65);
  for (double &x : s.v) x *= 100;
  s.lambda.clear();
  check_reduction("yaad", s, "moneta", s, {{"delta", "1"}}, {{"p", "1"}, {"r", "2"}});
}

BOOST_AUTO_TEST_CASE(the_norm_of_what_is_read_is_the_states_to_the_power_of_3_minus_r) {
  // One key and one query channel of 1: o_t = W_t, and |W|_r = |A|_r^{3-r}. Without a norm (r = 2) steps of size 1
  // diverge.
  Sequence s = random_sequence({1, 1, 12, 1, 4}, 66);
  std::fill(s.q.begin(), s.q.end(), 1.0);
  for (int r : {2, 3, 4, 5}) {
    const Output out = forward(find_variant("moneta"), s,
                               {"recurrent", Real::f64, 1, moneta_with({{"r", std::to_string(r)}, {"lr", "0.05"}})});
    const auto norm = [r](const double *x) {
      double sum = 0;
      for (int i = 0; i < 4; ++i) sum += std::pow(std::fabs(x[i]), r);
      return std::pow(sum, 1.0 / r);
    };
    const double expected = std::pow(norm(out.state.data()), 3 - r);
    BOOST_TEST(std::fabs(norm(&out.o[out.o.size() - 4]) - expected) <= 1e-12 * expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
