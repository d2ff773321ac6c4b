// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(in_context_regression)

BOOST_AUTO_TEST_CASE(the_next_example_is_asked_and_its_noiseless_value_right) {
  check_generator("in_context_regression", {});
  const int d = 3, T = 12;
  const Instance row("in_context_regression", {{"sequences", "2"}, {"d", "3"}, {"dv", "1"}, {"noise", "0"}});
  const Sequence &s = row.problem.sequence;
  for (int b : {0, 1})
    for (int t = 0; t + 1 < T; ++t) {
      for (int c = 0; c < d; ++c) BOOST_TEST(s.q[size_t((b * T + t) * d + c)] == s.k[size_t((b * T + t + 1) * d + c)]);
      BOOST_TEST(row.problem.target[size_t(b * T + t)] == s.v[size_t(b * T + t + 1)]);
    }
}

BOOST_AUTO_TEST_CASE(noise_has_the_asked_deviation) {
  const Instance row("in_context_regression", {{"sequences", "50"}, {"noise", "0.3"}});
  const size_t T = 64, dv = 4;
  double square = 0, count = 0;
  for (size_t i = 0; i + dv < row.problem.target.size(); ++i) {
    if (i / dv % T == T - 1) continue; // the next sequence
    const double e = row.problem.sequence.v[i + dv] - row.problem.target[i];
    square += e * e, ++count;
  }
  BOOST_TEST(std::fabs(square / count / 0.09 - 1) < 5.5 * std::sqrt(2 / count));
}

BOOST_AUTO_TEST_CASE(bayes_rule_by_hand_in_one_dimension) {
  // x = +-1, y = w x + e. After t examples the estimate of w is the sum of x y over t + noise^2.
  const Instance row("in_context_regression",
                     {{"sequences", "1"}, {"d", "1"}, {"dv", "1"}, {"rounds", "5"}, {"noise", "0.5"}});
  const Sequence &s = row.problem.sequence;
  std::vector<double> expected;
  double sum = 0;
  for (size_t t = 0; t < 5; ++t) {
    sum += s.k[t] * s.v[t];
    const double error = s.q[t] * sum / (double(t + 1) + 0.25) - row.problem.target[t];
    expected.push_back(error * error);
  }
  check_close(row.score(perfect(row.problem)).series.at("bayes_by_round"), expected, 1e-13);
}

BOOST_AUTO_TEST_CASE(least_squares_past_d_has_the_known_error) {
  // Without noise Bayes' rule is exact from d examples on, up to the ridge of 1e-9 over the smallest eigenvalue.
  const Instance exact("in_context_regression", {{"noise", "0"}});
  const Score best = exact.score(perfect(exact.problem));
  BOOST_TEST(metric(best, "bayes_late") < 1e-8);
  BOOST_TEST(metric(best, "bayes_below_d") > 0.3);
  // Reads of 0 have the variance of y, which is 1, as their error.
  const Instance many("in_context_regression", {{"sequences", "200"}});
  const Output zero{std::vector<double>(many.problem.target.size(), 0.0), {}, {}};
  const Score score = many.score(zero);
  // 200 functions have 4 x 16 weights each: the loss is the mean square of 12,800 normal numbers.
  for (const double loss : score.series.at("loss_by_round"))
    BOOST_TEST(std::fabs(loss - 1) < 6 * std::sqrt(2.0 / 12800));
  BOOST_TEST(metric(score, "bayes_late") < metric(score, "bayes_past_d"));
  BOOST_TEST(metric(score, "bayes_past_d") < metric(score, "bayes_below_d"));
}

BOOST_AUTO_TEST_CASE(losses_by_round) {
  const Instance row("in_context_regression", {{"sequences", "2"}, {"d", "3"}, {"dv", "2"}, {"rounds", "3"}});
  Output off = perfect(row.problem);
  off.o[size_t((9 + 4) * 2)] += 3; // the second function's fifth prediction, in the second round
  const Score score = row.score(off);
  BOOST_TEST(metric(score, "loss_below_d") == 0);
  BOOST_TEST(std::fabs(metric(score, "loss_past_d") - 9.0 / 12) < 1e-13); // 2 functions, 3 steps, 2 channels
  BOOST_TEST(metric(score, "loss_late") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
