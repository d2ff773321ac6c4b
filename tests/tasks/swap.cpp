// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(swap)

BOOST_AUTO_TEST_CASE(generates_what_it_says) {
  check_generator("swap", {});
  check_generator("swap", {{"read", "one"}, {"order", "any"}});
  const Instance row("swap",
                     {{"memories", "1"}, {"n", "3"}, {"swaps", "9"}, {"keys", "orthonormal"}, {"d", "4"}, {"dv", "5"}});
  const Sequence &s = row.problem.sequence;
  std::vector<int> held{0, 1, 2};
  for (int t = 3; t < 12; ++t) {
    int i = -1, j = -1; // recovered from the written key
    for (int key = 0; key < 3; ++key) {
      double product = 0;
      for (int c = 0; c < 4; ++c) product += s.k[t * 4 + c] * s.k[key * 4 + c];
      if (product > 0.5) i = key;
      if (product < -0.5) j = key;
    }
    BOOST_TEST((0 <= j && j < i));
    std::swap(held[i], held[j]);
    for (int head = 0; head < 3; ++head) BOOST_TEST(row.problem.answer[head * 12 + t] == held[head]);
    for (int c = 0; c < 5; ++c) BOOST_TEST(s.v[t * 5 + c] == 0);
  }
}

BOOST_AUTO_TEST_CASE(the_delta_rule_swaps_exactly_with_orthonormal_keys_only) {
  const Instance exact("swap", {{"keys", "orthonormal"}, {"order", "any"}});
  const Score score = exact.score(delta_rule(exact.problem.sequence));
  BOOST_TEST(metric(score, "state_accuracy") == 1);
  BOOST_TEST(metric(score, "horizon") == 48);
  BOOST_TEST(metric(score, "largest_error") <
             64 * 16 * epsilon_of(Real::f64)); // T steps of d-term products of unit size
  const Instance leaning("swap", {{"swaps", "300"}});
  const Score drifted = leaning.score(delta_rule(leaning.problem.sequence));
  BOOST_TEST(metric(drifted, "state_accuracy") < 0.9);
  BOOST_TEST(metric(drifted, "horizon") < 300);
  BOOST_TEST(drifted.series.at("state_accuracy_by_step").size() == 300);
}

BOOST_AUTO_TEST_CASE(one_wrong_head_spoils_the_state) {
  const Instance row("swap", {{"memories", "1"}, {"n", "4"}, {"swaps", "5"}, {"cosine", "0"}});
  Output out = perfect(row.problem);
  for (int c = 0; c < 16; ++c) out.o[(2 * 9 + 6) * 16 + c] *= -1; // head 2, third swap
  const Score score = row.score(out);
  BOOST_TEST(metric(score, "accuracy") == 19.0 / 20);
  BOOST_TEST(metric(score, "state_accuracy") == 4.0 / 5);
  BOOST_TEST(metric(score, "horizon") == 2);
  BOOST_TEST(std::fabs(metric(score, "largest_error") - 2) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
