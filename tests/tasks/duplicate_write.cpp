// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(duplicate_write)

BOOST_AUTO_TEST_CASE(a_sum_counts_and_the_delta_rule_does_not) {
  check_generator("duplicate_write", {});
  const Instance row("duplicate_write", {{"others", "5"}, {"writes", "4"}});
  const double rounding = 64 * epsilon_of(Real::f64); // 16-term sums of unit size
  check_close(row.score("linear").series.at("amplitude_by_write"), {1, 2, 3, 4}, 4 * rounding);
  const Score delta = row.score(delta_rule(row.problem.sequence));
  check_close(delta.series.at("amplitude_by_write"), {1, 1, 1, 1}, rounding);
  BOOST_TEST(metric(delta, "mse") < 1e-28);
}

BOOST_AUTO_TEST_CASE(a_partial_step_approaches_the_value) {
  // 002 §4 with |k| = 1: the error shrinks by 1 - beta at each write.
  const Instance row("duplicate_write", {{"writes", "4"}, {"beta", "0.5"}});
  const Score half = row.score(delta_rule(row.problem.sequence));
  check_close(half.series.at("amplitude_by_write"), {0.5, 0.75, 0.875, 0.9375}, 64 * epsilon_of(Real::f64));
  BOOST_TEST(metric(half, "amplitude_first") == half.series.at("amplitude_by_write").front());
  BOOST_TEST(metric(half, "amplitude_second") == half.series.at("amplitude_by_write")[1]);
  BOOST_TEST(metric(half, "amplitude_last") == half.series.at("amplitude_by_write").back());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
