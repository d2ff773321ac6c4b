// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(capacity)

BOOST_AUTO_TEST_CASE(every_step_asks_for_a_pair_written_so_far) {
  check_generator("capacity", {});
  const Instance row("capacity", {{"memories", "3"}, {"most", "9"}, {"d", "4"}, {"dv", "2"}});
  for (int step = 0; step < 27; ++step) {
    const int asked = row.problem.answer[step];
    BOOST_TEST((asked >= 0 && asked <= step % 9));
    const int right = step - step % 9 + asked;
    for (int c = 0; c < 2; ++c) BOOST_TEST(row.problem.target[step * 2 + c] == row.problem.sequence.v[right * 2 + c]);
    for (int c = 0; c < 4; ++c)
      BOOST_TEST(row.problem.sequence.q[step * 4 + c] == row.problem.sequence.k[right * 4 + c]);
  }
}

BOOST_AUTO_TEST_CASE(orthonormal_keys_are_all_recalled) {
  const Score score = Instance("capacity", {{"keys", "orthonormal"}, {"most", "16"}}).score("linear");
  BOOST_TEST(metric(score, "capacity") == 16);
  BOOST_TEST(metric(score, "capacity_ratio") == 1);
  BOOST_TEST(metric(score, "reached") == 0);
}

BOOST_AUTO_TEST_CASE(a_guess_among_the_values_so_far_recalls_a_few) {
  // At n = 1, 2, 3, 4 a fraction of 1, 1/2, 1/3, 1/4 is right; the running means over the window are 1, 0.75, 0.61,
  // 0.52.
  const Task &task = find_task("capacity");
  const auto chance = [&](const char *level) { return task.ends(resolve(task.params, {{"level", level}}, "")).chance; };
  BOOST_TEST((chance("0.6") == 3 && chance("0.62") == 2 && chance("0.76") == 1 && chance("1") == 1));
}

BOOST_AUTO_TEST_CASE(bisection_finds_the_step_where_recall_ends) {
  // A memory whose reads are right up to n = 21 and wrong from then on: over a window of 4 the accuracy falls below
  // 0.99 at n = 22.
  const Instance row("capacity", {{"memories", "2"}, {"most", "64"}, {"window", "4"}, {"d", "8"}});
  Output out = perfect(row.problem);
  for (size_t i = 0; i < out.o.size(); ++i)
    if (int(i / 64 % 64) >= 21) out.o[i] *= -1;
  const Score score = row.score(out);
  BOOST_TEST(metric(score, "capacity") == 21);
  BOOST_TEST(metric(score, "reached") == 1);
  BOOST_TEST(metric(score, "accuracy") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
