// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "harness/pipeline/plan.hpp"
#include "harness/pipeline/results.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_tables_of_cells)

std::string printed(int seeds, const Assignments &settings = {}, const std::string &variant = "linear") {
  RunRequest request;
  request.variants = {variant}, request.tasks = {"recall"}, request.seeds = seeds, request.settings = settings;
  const std::vector<Case> plan = make_plan(request);
  Results results = Results::planned(plan, {});
  for (const Case &c : plan) {
    Record r;
    r.case_index = c.index, r.status = "ok";
    r.score.metrics = {{c.task->metrics[0].name, 0.25 * double(c.index + 1)}};
    results.add(r);
  }
  std::ostringstream out;
  print_cells(out, results);
  return out.str();
}

BOOST_AUTO_TEST_CASE(several_seeds_are_a_mean_and_its_error) {
  const std::string text = printed(2); // 0.25 and 0.5: mean 0.375, standard error 0.125
  for (const char *part : {"recall", "linear", "0.375", "0.125", "chance", "ceiling"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
}

BOOST_AUTO_TEST_CASE(what_a_sweep_varies_is_told) {
  const std::string text = printed(2, {{"recall.n", "4,8"}, {"linear.scale", "1,2"}});
  for (const char *part : {"recall n=4: accuracy, 2 seeds, chance 0.25, ceiling 1\n", "recall n=8: ", "fixed scale=1\n",
                           "fixed scale=2\n"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
  BOOST_TEST(text.find("d=") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_untuned_table_says_so_and_names_the_flag) {
  const std::string untuned = printed(2, {}, "softmax"), fixed = printed(2, {{"linear.scale", "1"}}),
                    chosen = printed(2, {{"softmax.scale", "8"}}, "softmax");
  BOOST_TEST(untuned.find(", untuned\n") != std::string::npos);
  BOOST_TEST(untuned.find("--tune") != std::string::npos);
  for (const std::string &text : {fixed, chosen}) BOOST_TEST(text.find("tune") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(one_seed_is_no_sample) { BOOST_TEST(printed(1).empty()); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
