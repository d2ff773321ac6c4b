// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(mamba3)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // No turn at step 1: S_1 = 4 (1/2) 2 [1,0] = [4,0], o_1 = 4. Step 2 decays S_1 and its own weight of the write
  // before, ([4,0] + 2 (3/4) 2 [1,0]) / 2 = [7/2,0], turns that by 2 (pi/8 + pi/8) = pi/2 to [0,-7/2] and writes 2
  // (1/4) 4 [0,3].
  Sequence s = one_head(2, {1, 0, 2, 1}, {1, 0, 0, 3}, {2, 4});
  const double eighth = std::acos(-1.0) / 8;
  s.beta = {4, 2}, s.alpha = {1, 0.5}, s.lambda = {0.5, 0.5, 0.25, 0.25}, s.w = {0, 0, eighth, eighth};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("mamba3"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {4, 2.5}, 20 * epsilon_of(Real::f64));
    check_close(out.state, {0, 2.5, 0, 12}, 20 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(eulers_rule_without_angles_is_mamba2) {
  Sequence s = random_sequence({2, 2, 40, 9, 5}, 98);
  s.lambda.clear(), s.w.clear();
  check_reduction("mamba2", s, "mamba3", s, {}, {}, false); // its state has the last write as well
  s.w.assign(s.k.size(), 0.0);
  check_reduction("mamba2", s, "mamba3", s, {}, {}, false);
}

BOOST_AUTO_TEST_CASE(outputs_are_those_of_keys_and_queries_turned_by_the_sum_of_all_angles) { // the source's order
  const Shape n{2, 2, 40, 6, 5};
  const Sequence s = random_sequence(n, 99);
  Sequence turned = s;
  for (size_t head = 0; head < n.heads(); ++head)
    for (int p = 0; p < n.Dk / 2; ++p) {
      double angle = 0;
      for (int t = 0; t < n.T; ++t) {
        const size_t step = head * n.T + t, at = step * n.Dk + 2 * p;
        angle += s.beta[step] * (s.w[at] + s.w[at + 1]);
        for (const auto &[from, to] : {std::pair{&s.q, &turned.q}, {&s.k, &turned.k}}) {
          const double x = (*from)[at], y = (*from)[at + 1];
          (*to)[at] = std::cos(angle) * x - std::sin(angle) * y,
          (*to)[at + 1] = std::sin(angle) * x + std::cos(angle) * y;
        }
      }
    }
  Sequence straight = s, both = turned; // one weight per step, as in the source, commutes with the turn
  for (size_t i = 0; i < s.lambda.size(); ++i) straight.lambda[i] = both.lambda[i] = s.lambda[i / n.Dk * n.Dk];
  both.w.clear();
  check_reduction("mamba3", both, "mamba3", straight, {}, {}, false);
}

BOOST_AUTO_TEST_CASE(the_trapezoidal_rule_errs_by_the_square_of_the_step) {
  // dS/dx = -S + cos(x) from S(0) = 0, one key, up to x = 2; S(x) = (sin x + cos x - e^-x) / 2. Twice as many steps
  // divide Euler's error by 2 and the trapezoidal rule's by 4, to first order in the step.
  const auto error = [](int T, double weight) {
    const double step = 2.0 / T;
    Sequence s = one_head(T, std::vector<double>(T, 1.0), std::vector<double>(T, 1.0), std::vector<double>(T));
    s.beta.assign(T, step), s.alpha.assign(T, std::exp(-step)), s.lambda.assign(T, weight);
    for (int t = 0; t < T; ++t) s.v[t] = std::cos((t + 1) * step);
    s.state = {0, 1}; // the write at x = 0
    return forward(find_variant("mamba3"), s).o[T - 1] - (std::sin(2.0) + std::cos(2.0) - std::exp(-2.0)) / 2;
  };
  BOOST_TEST(std::fabs(error(500, 1) / error(1000, 1) - 2) < 0.01);
  BOOST_TEST(std::fabs(error(500, 0.5) / error(1000, 0.5) - 4) < 0.01);
}

BOOST_AUTO_TEST_CASE(half_turns_count_parity) {
  // One key along [1,0], turned by pi at every bit that is 1: its read is 1 after an even number of ones and -1 after
  // an odd number.
  const std::vector<int> bits = {0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1};
  const int T = int(bits.size());
  Sequence s = one_head(T, std::vector<double>(2 * T), std::vector<double>(2 * T), std::vector<double>(T, 0.0));
  s.alpha.assign(T, 1.0), s.w.assign(2 * T, 0.0);
  s.k[0] = s.v[0] = 1;
  std::vector<double> wanted;
  for (int t = 0, ones = 0; t < T; ++t) {
    s.q[2 * t] = 1, s.w[2 * t] = bits[t] * std::acos(-1.0);
    ones += bits[t], wanted.push_back(ones % 2 ? -1 : 1);
  }
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("mamba3"), s, {form, Real::f64, 4, {}}).o, wanted, 20 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
