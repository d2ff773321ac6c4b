// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(stack)

BOOST_AUTO_TEST_CASE(a_pop_asks_for_the_last_value_that_is_not_popped) {
  check_generator("stack", {});
  const int d = 24, T = 200;
  const Instance row("stack", {{"memories", "1"}, {"stacks", "3"}, {"height", "4"}, {"d", "24"}, {"T", "200"}});
  const Sequence &s = row.problem.sequence;
  const auto product = [&](const std::vector<double> &x, int a, const std::vector<double> &y, int b) {
    double sum = 0;
    for (int c = 0; c < d; ++c) sum += x[size_t(a * d + c)] * y[size_t(b * d + c)];
    return sum;
  };
  int pops = 0;
  size_t most = 0;
  std::vector<int> open; // steps of pushes that were not popped yet
  for (int t = 0; t < T; ++t) {
    if (row.problem.answer[size_t(t)] < 0) {
      for (const int earlier : open) BOOST_TEST(std::fabs(product(s.k, t, s.k, earlier)) < 1e-12); // a free place
      open.push_back(t);
      most = std::max(most, open.size());
      continue;
    }
    ++pops;
    BOOST_TEST(s.beta[size_t(t)] == 0);
    size_t found = open.size();
    for (size_t i = 0; i < open.size(); ++i)
      if (product(s.q, t, s.k, open[i]) > 0.5) found = i;
    BOOST_TEST_REQUIRE(found < open.size());
    BOOST_TEST(std::fabs(product(row.problem.target, t, s.v, open[found]) - 1) < 1e-12);
    open.erase(open.begin() + long(found));
    BOOST_TEST(open.size() <= 12u);
  }
  BOOST_TEST(pops > 50);
  BOOST_TEST(most > 6u); // stacks grow beyond two values
}

BOOST_AUTO_TEST_CASE(one_stack_of_one_place_pushes_and_pops_in_turn) {
  const Instance row("stack", {{"memories", "1"}, {"stacks", "1"}, {"height", "1"}, {"T", "10"}});
  for (size_t t = 0; t < 10; ++t) BOOST_TEST((row.problem.answer[t] >= 0) == (t % 2 == 1));
  // A memory that does not erase reads the sum of all values so far, so only its first read is right.
  Output out = perfect(row.problem);
  for (size_t c = 0; c < 32; ++c) out.o[7 * 32 + c] *= -1;
  BOOST_TEST(metric(row.score(out), "accuracy") == 0.8);
  BOOST_TEST(metric(row.score(out), "late_accuracy") == 2.0 / 3); // pops at steps 5, 7 and 9
}

BOOST_AUTO_TEST_CASE(the_delta_rule_keeps_stacks_and_addition_does_not) {
  const Instance row("stack", {{"T", "400"}});
  BOOST_TEST(metric(row.score(delta_rule(row.problem.sequence)), "accuracy") == 1);
  BOOST_TEST(metric(row.score("linear"), "late_accuracy") < 0.7);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
