// SPDX-License-Identifier: Apache-2.0
#include "harness/run/tune.hpp"
#include "harness/run/run.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(tune)

namespace {

std::vector<std::string> names(const std::vector<Free> &free) {
  std::vector<std::string> all;
  for (const Free &f : free) all.push_back((f.of_task ? "task " : "") + f.name);
  return all;
}
using Names = std::vector<std::string>;

Names free_in(const std::string &variant, const std::string &task, const Assignments &of_variant = {},
              const Assignments &of_task = {}) {
  return names(free_parameters(find_variant(variant), find_task(task), of_variant, of_task));
}

RunRequest tuned_request(const std::string &variant, const std::string &task) {
  RunRequest request;
  request.variants = {variant}, request.tasks = {task}, request.tune = true;
  request.seeds = 2, request.tuning_seeds = 2;
  return request;
}

/// Runs a plan like `run`, without files.
std::map<int, Record> run_all(const std::vector<Case> &plan, std::vector<std::pair<Case, Choice>> *settled = nullptr) {
  std::map<int, Record> records;
  Trials trials(plan, {});
  for (const Case &planned : plan) {
    const auto one = trials.settled(planned);
    const Record record = run_case(one.first, 0, 1);
    records[planned.index] = record;
    if (planned.setting == Setting::trial)
      if (const double *found = headline(planned, record)) trials.add(planned, *found);
    if (planned.setting == Setting::tuned && settled) settled->push_back(one);
  }
  return records;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_is_free_is_what_the_layer_reads_and_the_user_left_open) {
  BOOST_TEST(free_in("softmax", "recall") == Names{"scale"});
  BOOST_TEST(free_in("delta_net", "recall") == Names{"task beta"});
  BOOST_TEST(free_in("gated_delta_net", "recall") == (Names{"task beta", "task alpha"}));
  BOOST_TEST(free_in("gated_linear", "recall") == (Names{"scale", "task alpha"})); // lambda would only multiply it
  BOOST_TEST(free_in("gated_delta_net", "recall", {}, {{"beta", "1"}}) == Names{"task alpha"});
  BOOST_TEST(free_in("titans", "recall") == (Names{"eta", "task beta", "task alpha"})); // lambda only scales eta
  BOOST_TEST(free_in("softmax", "recall", {{"scale", "2"}}, {}).empty());
  BOOST_TEST(free_in("nlms", "recall").empty());
  BOOST_TEST(free_in("softmax", "state_growth").empty()); // a norm is not better or worse
}

BOOST_AUTO_TEST_CASE(grids_lie_in_their_ranges_and_add_to_the_default) {
  const auto check = [](const std::vector<ParamSpec> &specs, const std::string &owner) {
    for (const ParamSpec &spec : specs)
      for (double value : spec.grid) BOOST_TEST_CONTEXT(owner << " " << spec.name << " = " << value) {
          BOOST_TEST((value >= spec.low && value <= spec.high && spec.kind != ParamSpec::choice));
        }
  };
  for (const Variant &v : all_variants()) check(v.params, v.name);
  for (const Task &t : all_tasks()) check(t.params, t.name);
}

BOOST_AUTO_TEST_CASE(trials_come_first_on_seeds_of_their_own) {
  const std::vector<Case> plan = make_plan(tuned_request("gated_delta_net", "recall"));
  BOOST_TEST_REQUIRE(plan.size() == 4u * 3u * 2u + 2u); // beta x alpha x tuning seeds, then the seeds reported
  std::set<std::uint64_t> trial_seeds, reported;
  for (const Case &c : plan) {
    BOOST_TEST(c.group == plan[0].group);
    (c.setting == Setting::trial ? trial_seeds : reported).insert(c.seed);
  }
  BOOST_TEST((trial_seeds == std::set<std::uint64_t>{3, 4} && reported == std::set<std::uint64_t>{1, 2}));
  BOOST_TEST((plan[0].task_params.real("beta") == 1 && plan[0].task_params.real("alpha") == 1)); // the defaults first
  BOOST_TEST((plan.back().setting == Setting::tuned && plan[plan.size() - 3].setting == Setting::trial));
  RunRequest untuned = tuned_request("gated_delta_net", "recall");
  untuned.tune = false;
  for (const Case &c : make_plan(untuned)) BOOST_TEST((c.setting == Setting::untuned));
  untuned.variants = {"nlms"};
  const std::vector<Case> fixed = make_plan(untuned);
  BOOST_TEST((fixed[0].setting == Setting::fixed && fixed[0].group != fixed[1].group)); // as shards may separate them
}

BOOST_AUTO_TEST_CASE(the_best_trial_is_what_is_reported) {
  std::vector<std::pair<Case, Choice>> settled;
  RunRequest request = tuned_request("softmax", "recall");
  request.settings = {{"d", "16"}, {"n", "32"}};
  const std::vector<Case> plan = make_plan(request);
  const std::map<int, Record> records = run_all(plan, &settled);
  // at scale 1/sqrt(Dk) softmax averages everything; at a large one it reads the nearest key, which is correct
  BOOST_TEST_REQUIRE(settled.size() == 2u);
  BOOST_TEST_REQUIRE(settled[0].second.size() == 1u);
  BOOST_TEST(settled[0].second[0].owner == "softmax");
  BOOST_TEST(settled[0].second[0].name == "scale");
  BOOST_TEST(settled[0].second[0].value >= 4);
  double best = 0, first = 0;
  for (const Case &c : plan) {
    const double *found = headline(c, records.at(c.index));
    BOOST_TEST_REQUIRE(bool(found));
    if (c.setting == Setting::trial) best = std::max(best, *found);
    if (c.index == 0) first = *found;
    if (c.setting == Setting::tuned) BOOST_TEST(*found > first + 0.3);
  }
  BOOST_TEST(best == 1);
}

BOOST_AUTO_TEST_CASE(an_error_is_tuned_down_and_ties_keep_the_default) {
  const std::vector<Case> plan = make_plan(tuned_request("longhorn", "recall"));
  std::map<int, double> headlines;
  for (const Case &c : plan)
    if (c.setting == Setting::trial) headlines[c.index] = 0.5;
  const auto tied = Trials(plan, headlines).settled(plan.back());
  BOOST_TEST(tied.first.variant_params.real("delta") == 1);
  BOOST_TEST(tied.second.at(0).value == 1);
  const std::vector<Case> errors = make_plan(tuned_request("longhorn", "duplicate_write")); // mse: smaller is better
  headlines.clear();
  for (const Case &c : errors)
    if (c.setting == Setting::trial) headlines[c.index] = c.variant_params.real("delta") == 10 ? 0.1 : 0.2;
  BOOST_TEST(Trials(errors, headlines).settled(errors.back()).first.variant_params.real("delta") == 10);
  BOOST_TEST(Trials(errors, {}).settled(errors.back()).first.variant_params.real("delta") == 1); // no trial has a score
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
