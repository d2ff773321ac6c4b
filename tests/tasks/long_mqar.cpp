// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(long_mqar)

BOOST_AUTO_TEST_CASE(fillers_write_what_they_say) {
  for (const char *filler : {"pairs", "repeats", "silent"}) check_generator("long_mqar", {{"filler", filler}});
  const Assignments small{{"memories", "1"}, {"n", "3"}, {"filler_steps", "9"}, {"d", "4"}};
  Assignments silent = small, repeats = small;
  silent["filler"] = "silent", repeats["filler"] = "repeats";
  const Instance quiet("long_mqar", silent), again("long_mqar", repeats);
  for (int t = 3; t < 12; ++t) {
    BOOST_TEST(quiet.problem.sequence.beta[t] == 0);
    for (int c = 0; c < 4; ++c) {
      BOOST_TEST(quiet.problem.sequence.v[t * 4 + c] == 0);
      BOOST_TEST(again.problem.sequence.k[t * 4 + c] == again.problem.sequence.k[(t % 3) * 4 + c]);
      BOOST_TEST(again.problem.sequence.v[t * 4 + c] == again.problem.sequence.v[(t % 3) * 4 + c]);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_delta_rule_forgets_under_pairs_and_not_under_silence) {
  const Assignments base{{"memories", "16"}, {"filler_steps", "504"}, {"keys", "orthonormal"}};
  Assignments silent = base;
  silent["filler"] = "silent";
  const Instance quiet("long_mqar", silent), loud("long_mqar", base);
  const Score kept = quiet.score(delta_rule(quiet.problem.sequence)),
              lost = loud.score(delta_rule(loud.problem.sequence));
  BOOST_TEST(metric(kept, "accuracy") == 1);
  BOOST_TEST(metric(kept, "mse") < 1e-28);
  // m random unit distractors leave a factor (1 - 1/d)^m of a key: less than e^-8 at d = 32 and m = 256 ... 504.
  BOOST_TEST(metric(lost, "accuracy") < 0.1); // guessing gives 1/64; 4032 reads
  BOOST_TEST(metric(lost, "first_accuracy") > 0.9);
  BOOST_TEST(lost.series.at("accuracy_by_octave").size() == 6); // 8-16, ..., 256-512
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
