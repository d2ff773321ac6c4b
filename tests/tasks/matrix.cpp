// SPDX-License-Identifier: Apache-2.0
// Every variant on every task with default parameters: finite numbers under declared names, or a stated reason.
#include "harness/run/plan.hpp"
#include "harness/run/run.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>
#include <set>

namespace recollect {
namespace {

bool finite(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

std::set<std::string> declared(const Task &task) {
  std::set<std::string> names;
  for (const Metric &m : task.metrics) names.insert(m.name);
  return names;
}

void check_score(const Task &task, const Score &score, std::set<std::string> &reported) {
  BOOST_TEST(!score.metrics.empty());
  for (const auto &[name, value] : score.metrics) {
    BOOST_TEST_INFO(name);
    BOOST_TEST(declared(task).count(name));
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

BOOST_AUTO_TEST_CASE(every_cell_is_a_score_or_a_reason, *slow) {
  std::map<std::string, std::set<std::string>> reported;
  for (const Case &c : make_plan(RunRequest{})) {
    Record record = run_case(c, 0, 1);
    BOOST_TEST_CONTEXT(c.variant->name << " on " << c.task->name << ": " << record.status << ", " << record.reason) {
      BOOST_TEST((record.status == "ok" || record.status == "meaningless"));
      BOOST_TEST((record.status == "ok") == record.reason.empty());
      auto &metrics = record.score.metrics; // the last metric of an approximate form is its deviation from the layer
      const bool deviates = !metrics.empty() && metrics.back().first == "deviation";
      if (record.status == "ok") BOOST_TEST(deviates == !c.form->exact);
      if (deviates) {
        BOOST_TEST((std::isfinite(metrics.back().second) && metrics.back().second >= 0));
        metrics.pop_back();
      }
      if (record.status == "ok") check_score(*c.task, record.score, reported[c.task->name]);
    }
  }
  for (const Task &task : all_tasks()) // every declared metric is reported
    BOOST_TEST_CONTEXT(task.name) {
      BOOST_TEST(reported[task.name] == declared(task), boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(an_approximate_form_reports_its_deviation) {
  RunRequest request;
  request.variants = {"ttt_linear"}, request.tasks = {"recall"}, request.form = "minibatch";
  Case c = make_plan(request).front();
  BOOST_TEST_REQUIRE(c.form->name == "minibatch");
  const auto reported = [&] { return run_case(c, 0, 1).score.metrics.back(); };
  BOOST_TEST(reported().first == "deviation");
  BOOST_TEST(reported().second > 1e-3);
  c.variant_params.set("minibatch", 1); // minibatches of one token are the layer itself
  Problem problem = c.task->generate(c.task_params, c.seed);
  problem.sequence.w = problem.sequence.k;
  const double kappa = input_condition(*c.variant, problem.sequence, c.variant_params, 1);
  BOOST_TEST(reported().second <= accumulated_terms(problem.sequence.shape, 1) * epsilon_of(c.real) * kappa);
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
