// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(copy)

BOOST_AUTO_TEST_CASE(gives_back_the_list_in_order) {
  check_generator("copy", {});
  const Instance row("copy", {{"memories", "2"}, {"length", "5"}, {"d", "10"}});
  const Sequence &s = row.problem.sequence;
  for (int m : {0, 1})
    for (int i = 0; i < 5; ++i)
      for (int c = 0; c < 10; ++c) {
        const int written = (m * 10 + i) * 10 + c, asked = (m * 10 + 5 + i) * 10 + c;
        BOOST_TEST(row.problem.target[asked] == s.v[written]);
        BOOST_TEST(s.q[asked] == s.k[written]);
        BOOST_TEST(s.v[asked] == 0);
        BOOST_TEST(s.beta[m * 10 + 5 + i] == 0);
      }
  for (const Output &out :
       {forward(find_variant("linear"), s), delta_rule(s)}) { // 2 L <= d orthonormal positions: exact
    BOOST_TEST(metric(row.score(out), "exact") == 1);
    BOOST_TEST(metric(row.score(out), "mse") < 1e-28);
  }
}

BOOST_AUTO_TEST_CASE(a_palindrome_is_read_from_its_last_token_back) {
  check_generator("copy", {{"order", "reversed"}});
  const Instance row("copy", {{"memories", "2"}, {"length", "5"}, {"d", "10"}, {"order", "reversed"}});
  const Sequence &s = row.problem.sequence;
  for (int m : {0, 1})
    for (int i = 0; i < 5; ++i)
      for (int c = 0; c < 10; ++c) {
        const int written = (m * 10 + 4 - i) * 10 + c, asked = (m * 10 + 5 + i) * 10 + c;
        BOOST_TEST(row.problem.target[asked] == s.v[written]);
        BOOST_TEST(s.q[asked] == s.k[written]);
      }
  BOOST_TEST(metric(row.score(delta_rule(s)), "exact") == 1);
}

BOOST_AUTO_TEST_CASE(one_wrong_token_spoils_its_text) {
  const Instance row("copy", {{"memories", "4"}, {"length", "5"}, {"d", "10"}});
  Output out = perfect(row.problem);
  for (int c = 0; c < 10; ++c) out.o[(10 + 7) * 10 + c] *= -1;
  BOOST_TEST(metric(row.score(out), "exact") == 0.75);
  BOOST_TEST(metric(row.score(out), "accuracy") == 19.0 / 20);
  check_close(row.score(out).series.at("accuracy_by_step"), {1, 1, 0.75, 1, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
