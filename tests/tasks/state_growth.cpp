// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(state_growth)

BOOST_AUTO_TEST_CASE(reads_along_the_axes_give_the_norm_of_the_state) {
  for (const char *inputs : {"zero_mean", "bounded", "biased"}) check_generator("state_growth", {{"inputs", inputs}});
  const Instance row("state_growth", {});
  const Score score = row.score("linear");
  BOOST_TEST(std::fabs(metric(score, "norm") / metric(score, "state_norm") - 1) < 1e-12);
  BOOST_TEST(metric(score, "extra_norm") == 0);
  BOOST_TEST(score.series.at("norm_by_step").size() == 256);
}

BOOST_AUTO_TEST_CASE(a_sum_grows_by_its_law) {
  // Exponent 1/2 for a random walk in 16 x 16 dimensions, 1 with a drift. Over 8 memories the walk's norm has a
  // relative spread of sqrt(1/2 / (8 x 256)) = 0.016, and the slope over one octave
  // at most sqrt(2) x 0.016 / ln 2 = 0.033.
  const auto growth = [](const char *inputs) {
    return metric(Instance("state_growth", {{"memories", "8"}, {"T", "1024"}, {"inputs", inputs}}).score("linear"),
                  "growth");
  };
  BOOST_TEST(std::fabs(growth("zero_mean") - 0.5) < 0.21);
  BOOST_TEST(std::fabs(growth("bounded") - 0.5) < 0.21);
  BOOST_TEST(std::fabs(growth("biased") - 1) < 0.21);
}

BOOST_AUTO_TEST_CASE(growth_is_the_exponent_of_the_second_half) {
  const int T = 400;
  const Instance row("state_growth", {{"memories", "1"}, {"T", "400"}, {"d", "1"}, {"dv", "1"}});
  Output out{{}, {1}, {1, 1}};
  for (int t = 0; t < T; ++t)
    out.o.push_back(t < T / 2 ? 7 : t == 300 ? 0 : std::pow(t + 1, 1.5)); // 0 has no logarithm
  BOOST_TEST(std::fabs(metric(row.score(out), "growth") - 1.5) < 1e-12);
}

BOOST_AUTO_TEST_CASE(the_first_step_and_the_extra_rows_by_hand) {
  const Instance row("state_growth", {{"memories", "1"}, {"T", "4"}, {"d", "2"}, {"dv", "1"}, {"inputs", "bounded"}});
  Output out{std::vector<double>(8, 0.0), {3, 4, 5, 12, 3, 4, 5, 12}, {2, 2}}; // two heads, state rows (3,4) and (5,12)
  out.o[0] = 6, out.o[4] = 8;                                                  // first reads of the two heads
  const Score score = row.score(out);
  BOOST_TEST(score.series.at("norm_by_step")[0] == 10);
  BOOST_TEST(metric(score, "state_norm") == 5);
  BOOST_TEST(metric(score, "extra_norm") == 13);
  Variant stateless = find_variant("linear");
  BOOST_TEST(row.task.meaningless(stateless, row.params) == "");
  stateless.state_shape = [](const Shape &, const Params &) { return StateShape{}; };
  BOOST_TEST(row.task.meaningless(stateless, row.params) != "");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
