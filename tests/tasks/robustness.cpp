// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(robustness)

BOOST_AUTO_TEST_CASE(the_first_level_is_clean_and_the_last_as_strong_as_asked) {
  const int n = 40, d = 64, numbers = n * d; // of one memory
  for (const std::string kind : {"noise", "drop", "scale"}) {
    check_generator("robustness", {{"corruption", kind}});
    const Instance row(
        "robustness",
        {{"corruption", kind}, {"memories", "1"}, {"levels", "3"}, {"most", "0.8"}, {"n", "40"}, {"d", "64"}});
    const Sequence &s = row.problem.sequence;
    for (const std::vector<double> *x : {&s.k, &s.v}) {
      double square = 0, dropped = 0;
      for (int i = 0; i < numbers; ++i) {
        const double clean = (*x)[size_t(i)], half = (*x)[size_t(numbers + i)], full = (*x)[size_t(2 * numbers + i)];
        if (x == &s.v) BOOST_TEST(clean == row.problem.candidates[size_t(i)]);
        if (x == &s.k && i < numbers - d) BOOST_TEST(clean == s.q[size_t(i)]);
        if (kind == "scale") BOOST_TEST((half == clean * 1.4 && full == clean * 1.8));
        if (kind == "noise") BOOST_TEST(std::fabs(full - clean - 2 * (half - clean)) < 1e-15);
        if (kind == "drop") BOOST_TEST(((full == 0 || full == clean) && (half == clean || (half == 0 && full == 0))));
        square += (full - clean) * (full - clean), dropped += full == 0;
      }
      // The rows of the noise have the mean square length 0.8^2. The mean of N squares has the relative error sqrt(2 /
      // N).
      if (kind == "noise") BOOST_TEST(std::fabs(square / n / 0.64 - 1) < 5 * std::sqrt(2.0 / numbers));
      if (kind == "drop") BOOST_TEST(std::fabs(dropped / numbers - 0.8) < 5 * std::sqrt(0.16 / numbers));
    }
  }
  BOOST_CHECK_THROW(Instance("robustness", {{"corruption", "drop"}, {"most", "2"}}), Error);
}

BOOST_AUTO_TEST_CASE(the_delta_rule_is_exact_on_clean_orthonormal_keys_and_unstable_on_long_ones) {
  const Instance scaled("robustness", {{"corruption", "scale"}, {"most", "3"}, {"keys", "unit"}, {"memories", "64"}});
  const Score score = scaled.score(delta_rule(scaled.problem.sequence));
  BOOST_TEST(metric(score, "clean_accuracy") > 0.9);
  BOOST_TEST(metric(score, "corrupted_accuracy") < 0.3); // the transition's eigenvalue is 1 - 16
  // Orthonormal keys do not interfere at any length.
  const Instance alone("robustness", {{"corruption", "scale"}, {"most", "3"}});
  BOOST_TEST(metric(alone.score(delta_rule(alone.problem.sequence)), "accuracy") == 1);
}

BOOST_AUTO_TEST_CASE(levels_are_scored_apart) {
  const Instance row("robustness", {{"memories", "4"}, {"levels", "3"}, {"n", "5"}, {"d", "8"}});
  Output out = perfect(row.problem);
  for (const int memory : {4, 8, 9})
    for (int c = 0; c < 8; ++c) out.o[size_t((memory * 5 + 4) * 8 + c)] *= -1;
  const Score score = row.score(out);
  check_close(score.series.at("accuracy_by_level"), {1, 0.75, 0.5}, 0);
  BOOST_TEST(metric(score, "accuracy") == 0.75);
  BOOST_TEST(metric(score, "clean_accuracy") == 1);
  BOOST_TEST(metric(score, "corrupted_accuracy") == 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
