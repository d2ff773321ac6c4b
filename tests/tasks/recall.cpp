// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(recall)

BOOST_AUTO_TEST_CASE(generates_what_it_says) {
  check_generator("recall", {{"noise", "0.1"}});
  const Instance row("recall", {{"memories", "2"}, {"n", "3"}, {"d", "4"}, {"dv", "2"}});
  const Sequence &s = row.problem.sequence;
  for (int m : {0, 1}) {
    const int last = m * 3 + 2, asked = row.problem.answer[last], right = m * 3 + asked;
    for (int c = 0; c < 4; ++c) BOOST_TEST(s.q[last * 4 + c] == s.k[right * 4 + c]);
    for (int c = 0; c < 2; ++c) BOOST_TEST(row.problem.target[last * 2 + c] == s.v[right * 2 + c]);
    for (int i = 0; i < 3; ++i) // the twin keeps only the asked value
      for (int c = 0; c < 2; ++c)
        BOOST_TEST(s.v[(6 + m * 3 + i) * 2 + c] == (i == asked ? s.v[(m * 3 + i) * 2 + c] : 0));
  }
  BOOST_TEST(row.problem.answer[2 * 3 + 2] == -1);
}

BOOST_AUTO_TEST_CASE(a_query_is_the_asked_key_and_noise) {
  const int memories = 200, n = 3, d = 16;
  const Instance row("recall", {{"memories", "200"}, {"n", "3"}, {"d", "16"}, {"noise", "0.3"}});
  const Sequence &s = row.problem.sequence;
  double square = 0;
  for (int m = 0; m < memories; ++m) {
    const int last = m * n + n - 1, right = m * n + row.problem.answer[last];
    for (int c = 0; c < d; ++c) {
      square += std::pow(s.q[last * d + c] - s.k[right * d + c], 2) / (memories * d);
      BOOST_TEST(s.q[(memories * n + last) * d + c] == s.q[last * d + c]); // the twin has the same queries
    }
  }
  BOOST_TEST(std::fabs(square / 0.09 - 1) < 6.47 * std::sqrt(2.0 / (memories * d)));
}

BOOST_AUTO_TEST_CASE(a_perfect_memory_scores_perfectly) {
  Instance row("recall", {});
  Output out = perfect(row.problem);
  out.o.resize(out.o.size() / 2);
  out.o.insert(out.o.end(), out.o.begin(), out.o.end()); // the twin's read is also the value
  const Score score = row.score(out);
  BOOST_TEST(metric(score, "mse") == 0);
  BOOST_TEST(std::fabs(metric(score, "cosine") - 1) < 1e-15);
  BOOST_TEST(metric(score, "accuracy") == 1);
  BOOST_TEST(metric(score, "snr_inverse") == 0);
  BOOST_TEST(metric(score, "lost") == 0);
}

BOOST_AUTO_TEST_CASE(linear_attention_has_its_known_noise) {
  // Orthonormal keys: exact. Unit keys: E |r|^2 / |v|^2 = (n-1)/d dv/(dv-2); one memory's ratio has a relative spread
  // below 1, so the mean of 4000 lies within 6.5/sqrt(4000) = 10% but for one run in 10^10.
  BOOST_TEST(metric(Instance("recall", {{"keys", "orthonormal"}}).score("linear"), "snr_inverse") < 1e-25);
  const Assignments unit{{"memories", "4000"}, {"n", "17"}, {"d", "16"}, {"dv", "18"}};
  const double predicted = 16.0 / 16 * 18 / 16,
               measured = metric(Instance("recall", unit).score("linear"), "snr_inverse");
  BOOST_TEST(std::fabs(measured / predicted - 1) < 0.1);
}

BOOST_AUTO_TEST_CASE(a_dropped_pair_is_lost) {
  const Instance row("recall", {});
  const Score score = row.score(Output{std::vector<double>(row.problem.target.size(), 0.0), {}, {}});
  BOOST_TEST(metric(score, "lost") == 1);
  for (const auto &[name, value] : score.metrics) BOOST_TEST(name != "snr_inverse");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
