// SPDX-License-Identifier: Apache-2.0
#include "harness/run/estimate.hpp"
#include "tests/runs.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(estimates)

std::vector<Case> sweep() { return make_plan(recall_of({"linear", "delta_net"}, 5, {{"n", "8:64"}})); }
std::vector<const Case *> pointers(const std::vector<Case> &plan) {
  std::vector<const Case *> all;
  for (const Case &c : plan) all.push_back(&c);
  return all;
}
double work(const Case &c) { return work_of(*c.variant, c.task->shape(c.task_params), c.variant_params); }

BOOST_AUTO_TEST_CASE(the_size_of_a_sweep_is_said) {
  BOOST_TEST(size_of(make_plan(recall_of({"linear"}, 5, {{"n", "8:64"}}))) == "285 cases: 1 layer on 1 task, 5 seeds");
  RunRequest all;
  all.tune = true, all.seeds = 5;
  const std::string text = size_of(make_plan(all));
  BOOST_TEST((text.find(" cases: ") != std::string::npos && text.find(" tuning trials") != std::string::npos), text);
  BOOST_TEST((text.find(',') == 2u || text.find(',') == 3u), text); // tens of thousands, or more
}

BOOST_AUTO_TEST_CASE(overhead_and_rate_are_found) {
  const std::vector<Case> plan = sweep();
  double truth = 0;
  const auto time = [](const Case &c) { return 2e-3 + 3e-9 * work(c); };
  for (const Case &c : plan) truth += time(c);
  size_t calls = 0;
  const Estimate found = estimate(pointers(plan), 1e9, [&](const Case &c) { return ++calls, time(c); });
  BOOST_TEST(std::fabs(found.seconds / truth - 1) < 0.01);
  BOOST_TEST((found.tried == calls && calls == 16u));
}

BOOST_AUTO_TEST_CASE(the_budget_is_kept) {
  const std::vector<Case> plan = sweep();
  const auto time = [](const Case &c) { return 1e-6 * work(c); };
  double spent = 0, truth = 0;
  for (const Case &c : plan) truth += time(c);
  const Estimate found =
      estimate(pointers(plan), 10 * time(plan[0]), [&](const Case &c) { return spent += time(c), time(c); });
  BOOST_TEST(spent <= 20 * time(plan[0])); // the last may go beyond it
  BOOST_TEST(std::fabs(found.seconds / truth - 1) < 0.5);
  BOOST_TEST(estimate({}, 1, time).seconds == 0);
  BOOST_TEST(estimate({&plan[0]}, 1, time).seconds == time(plan[0]));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
