// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(selective_copy)

BOOST_AUTO_TEST_CASE(a_write_gate_keeps_the_noise_out) {
  check_generator("selective_copy", {});
  const Instance gated("selective_copy", {}), open("selective_copy", {{"noise_beta", "1"}});
  const Sequence &s = gated.problem.sequence;
  int silenced = 0;
  for (int t = 0; t < 128; ++t) silenced += s.beta[t] == 0;
  BOOST_TEST(silenced == 96);
  const Score kept = gated.score(delta_rule(s));
  BOOST_TEST(metric(kept, "exact") == 1);
  BOOST_TEST(metric(kept, "mse") < 1e-28);
  BOOST_TEST(metric(open.score(delta_rule(open.problem.sequence)), "exact") < 1);
  BOOST_TEST(metric(gated.score("linear"), "exact") < 1); // no gate: it writes the noise too
}

BOOST_AUTO_TEST_CASE(tokens_come_back_in_the_order_of_the_text) {
  const Instance row("selective_copy", {{"memories", "1"}, {"length", "4"}, {"noise", "6"}, {"d", "8"}});
  const Sequence &s = row.problem.sequence;
  int i = 0;
  for (int t = 0; t < 10; ++t) {
    if (s.beta[t] == 0) continue;
    for (int c = 0; c < 8; ++c) {
      BOOST_TEST(row.problem.target[(10 + i) * 8 + c] == s.v[t * 8 + c]);
      BOOST_TEST(s.q[(10 + i) * 8 + c] == s.k[t * 8 + c]);
    }
    ++i;
  }
  BOOST_TEST(i == 4);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
