// SPDX-License-Identifier: Apache-2.0
#include "harness/run/plan.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(plan)

BOOST_AUTO_TEST_CASE(settings_reach_whom_they_name) {
  RunRequest request;
  request.variants = {"linear"}, request.tasks = {"recall"};
  request.settings = {{"n", "5"}, {"linear.scale", "2"}};
  const std::vector<Case> plan = make_plan(request);
  BOOST_TEST(plan.size() == 1u);
  BOOST_TEST(plan[0].task_params.integer("n") == 5);
  BOOST_TEST(plan[0].variant_params.real("scale") == 2);
  request.settings = {{"nonsense", "5"}};
  BOOST_CHECK_THROW(make_plan(request), Error);
  request.settings = {{"softmax.scale", "5"}}; // not selected
  BOOST_CHECK_THROW(make_plan(request), Error);
  request.variants = {"gla"}, request.settings = {{"gla.scale", "3"}}; // by its alias
  BOOST_TEST(make_plan(request)[0].variant_params.real("scale") == 3);
}

BOOST_AUTO_TEST_CASE(every_variant_meets_every_task_and_seed) {
  RunRequest request;
  request.variants = {"linear", "softmax"}, request.tasks = {"recall", "copy"}, request.seed = 5, request.seeds = 3;
  const std::vector<Case> plan = make_plan(request);
  BOOST_TEST(plan.size() == 12u);
  for (size_t i = 0; i < plan.size(); ++i) {
    BOOST_TEST(plan[i].index == int(i));
    BOOST_TEST(plan[i].seed == 5 + i % 3);
  }
  BOOST_TEST(plan[0].form->name == "chunked"); // the fast form of linear at widths of 32
}

BOOST_AUTO_TEST_CASE(lists_of_values_give_every_combination_once) {
  RunRequest request;
  request.variants = {"linear", "delta_net"}, request.tasks = {"recall"};
  request.settings = {{"n", "4,8"}, {"linear.scale", "1,2,3"}}; // delta_net has no scale: two cases, not six
  BOOST_TEST(make_plan(request).size() == 6u + 2u);
}

BOOST_AUTO_TEST_CASE(shapes_are_pairs_at_every_setting) {
  RunRequest request;
  request.variants = {"linear"}, request.tasks = {"recall", "copy"}; // copy has no dv, so 16 occurs once
  request.settings = {{"recall.n", "4,8"}}, request.shapes = {"16,8", "16,32", "64,64"};
  std::vector<std::string> met;
  for (const Case &c : make_plan(request)) {
    const auto of = [&](const char *name) { return std::to_string(c.task_params.integer(name)); };
    met.push_back(c.task->name + " " + of("d") + (c.task->name == "recall" ? "," + of("dv") + " n " + of("n") : ""));
  }
  const std::vector<std::string> expected{"copy 16",          "copy 64",          "recall 16,8 n 4",
                                          "recall 16,8 n 8",  "recall 16,32 n 4", "recall 16,32 n 8",
                                          "recall 64,64 n 4", "recall 64,64 n 8"};
  BOOST_TEST(met == expected, boost::test_tools::per_element());
  for (const char *wrong : {"16", "16,8,4", "16,x", "0,4"}) {
    request.shapes = {wrong};
    BOOST_CHECK_THROW(make_plan(request), Error);
  }
  request.shapes = {"16,8"}, request.settings["dv"] = "4";
  BOOST_CHECK_THROW(make_plan(request), Error);
}

BOOST_AUTO_TEST_CASE(the_most_work_is_begun_first_and_groups_stay_together) {
  BOOST_TEST((longest_first({1, 3, 2, 3}) == std::vector<size_t>{1, 3, 2, 0}));
  BOOST_TEST((longest_first({0, 0, 0}) == std::vector<size_t>{0, 1, 2}));
  RunRequest request;
  request.variants = {"linear"}, request.tasks = {"recall"}, request.seeds = 2,
  request.settings = {{"recall.n", "16,64"}};
  std::vector<Case> plan = make_plan(request);
  const std::vector<double> work = work_of(groups_of(plan));
  BOOST_TEST_REQUIRE(work.size() == 4u);
  BOOST_TEST((work[0] == work[1] && work[2] == work[3] && work[0] > 0 && work[0] < work[2]));
  for (Case &c : plan) c.group = 7;
  const std::vector<Group> one = groups_of(plan);
  BOOST_TEST_REQUIRE(one.size() == 1u);
  for (size_t i = 0; i < plan.size(); ++i) BOOST_TEST(one[0].at(i) == &plan[i]);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
