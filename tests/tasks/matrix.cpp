// SPDX-License-Identifier: Apache-2.0
// Every variant on every task at their defaults: finite numbers under declared names, or a stated reason.
#include "../testing.hpp"
#include "plan.hpp"
#include "run.hpp"
#include <algorithm>
#include <cmath>
#include <set>

namespace recollect {
namespace {

bool finite(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

void check_score(const Task &task, const Score &score, std::set<std::string> &reported) {
  BOOST_TEST(!score.metrics.empty());
  for (const auto &[name, value] : score.metrics) {
    BOOST_TEST_INFO(name);
    BOOST_TEST((std::find(task.metrics.begin(), task.metrics.end(), name) != task.metrics.end()));
    BOOST_TEST_INFO(name);
    BOOST_TEST(std::isfinite(value));
    reported.insert(name);
  }
  for (const auto &[name, curve] : score.series) {
    BOOST_TEST_INFO(name);
    BOOST_TEST((!curve.empty() && finite(curve)));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(matrix)

BOOST_AUTO_TEST_CASE(every_cell_is_a_score_or_a_reason) {
  std::map<std::string, std::set<std::string>> reported;
  for (const Case &c : make_plan({})) {
    const Record record = run_case(c, 0, 1);
    BOOST_TEST_CONTEXT(c.variant->name << " on " << c.task->name << ": " << record.status << ", " << record.reason) {
      BOOST_TEST((record.status == "ok" || record.status == "meaningless"));
      BOOST_TEST((record.status == "ok") == record.reason.empty());
      if (record.status == "ok") check_score(*c.task, record.score, reported[c.task->name]);
    }
  }
  for (const Task &task : all_tasks()) // nothing is declared in vain
    BOOST_TEST_CONTEXT(task.name) {
      BOOST_TEST((reported[task.name] == std::set<std::string>(task.metrics.begin(), task.metrics.end())));
    }
}

BOOST_AUTO_TEST_CASE(a_shape_that_a_variant_cannot_take_is_a_reason) {
  RunRequest request;
  request.variants = {"linear"}, request.tasks = {"recall"};
  Case c = make_plan(request).front();
  Variant narrow = *c.variant;
  narrow.unsuitable = [](const Shape &shape, const Params &) { return shape.Dk > 8 ? "Dk must be at most 8" : ""; };
  c.variant = &narrow;
  BOOST_TEST(run_case(c, 0, 1).status == "meaningless");
  BOOST_TEST(run_case(c, 0, 1).reason == "Dk must be at most 8");
  c.task_params.set("d", 8);
  BOOST_TEST(run_case(c, 0, 1).status == "ok");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
