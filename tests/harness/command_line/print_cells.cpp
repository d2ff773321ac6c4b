// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "tests/runs.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_tables_of_cells)

std::string printed(int seeds, const Assignments &settings = {}, const std::string &variant = "linear",
                    const std::vector<std::string> &metrics = {}) {
  std::ostringstream out;
  print_cells(out,
              ensembles_of(made_up(recall_of({variant}, seeds, settings),
                                   [](const Case &c) { return 0.25 * double(c.index + 1); })),
              metrics);
  return out.str();
}
size_t lines_in(const std::string &text) { return size_t(std::count(text.begin(), text.end(), '\n')); }

BOOST_AUTO_TEST_CASE(several_seeds_are_a_mean_and_its_error) {
  const std::string text = printed(2); // 0.25 and 0.5: mean 0.375, standard error 0.125
  for (const char *part :
       {"recall: accuracy, 2 seeds, chance 0.03125, ceiling 1, untuned\n", "linear", "0.375", "0.125"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
}

BOOST_AUTO_TEST_CASE(a_sweep_is_one_table_with_a_column_per_value_swept) {
  const std::string text = printed(2, {{"recall.n", "4,8"}, {"linear.scale", "1,2"}});
  BOOST_TEST(lines_in(text) == 6u); // heading, names, four rows
  for (const char *part : {"recall: accuracy, 2 seeds, ceiling 1\n", "variant  form     n  mean", "chance",
                           "0.125   fixed scale=2\n", "0.25    fixed scale=1\n"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
  BOOST_TEST(text.find(" d ") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(one_seed_has_a_table_without_errors) {
  const std::string text = printed(1, {{"n", "4:8"}});
  BOOST_TEST(lines_in(text) == 8u); // heading, names, five rows, and a line that says they are untuned
  BOOST_TEST((text.find("1 seed,") != std::string::npos && text.find("s.e.") == std::string::npos), text);
}

BOOST_AUTO_TEST_CASE(every_metric_asked_for_is_a_column) {
  const std::string text = printed(2, {}, "linear", {"mse", "accuracy"}); // mse is twice the accuracy here
  for (const char *part :
       {"recall: mse, accuracy, 2 seeds", "mse   s.e.  accuracy  s.e.", "0.75  0.25  0.375     0.125"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
  BOOST_TEST(printed(2, {}, "linear", {"all"}).find("accuracy") != std::string::npos);
  BOOST_TEST(printed(2, {}, "linear", {"of another task"}).empty());
}

BOOST_AUTO_TEST_CASE(chance_and_ceiling_are_those_of_the_headline) {
  const std::string both = printed(2, {}, "linear", {"mse", "accuracy"}), other = printed(2, {}, "linear", {"mse"});
  BOOST_TEST(both.find("2 seeds, chance of accuracy 0.03125, ceiling of accuracy 1, untuned\n") != std::string::npos,
             both);
  BOOST_TEST(other.find("recall: mse, 2 seeds, untuned\n") == 0u, other);
}

BOOST_AUTO_TEST_CASE(an_untuned_table_says_so_and_names_the_flag) {
  const std::string untuned = printed(2, {}, "softmax"), fixed = printed(2, {{"linear.scale", "1"}}),
                    chosen = printed(2, {{"softmax.scale", "8"}}, "softmax");
  BOOST_TEST(untuned.find(", untuned\n") != std::string::npos);
  BOOST_TEST(untuned.find("--tune") != std::string::npos);
  for (const std::string &text : {fixed, chosen}) BOOST_TEST(text.find("tune") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_reason_is_said_once_for_all_its_layers) {
  const std::vector<Case> plan = make_plan(recall_of({"linear", "rls"}, 3));
  Results results = Results::planned(plan, {});
  for (const Case &c : plan) {
    Record r;
    r.case_index = c.index, r.status = "skipped", r.reason = "too large";
    if (c.index == 0) r.status = "failed"; // it has a separate line
    results.add(r);
  }
  std::ostringstream out;
  print_remarks(out, results);
  BOOST_TEST(out.str() == "recall, skipped: too large; layers (cases): linear (2), rls (3)\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
