// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "tests/runs.hpp"
#include "tests/testing.hpp"
#include <cstdlib>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_comparisons_of_layers)

std::vector<Ensemble> results(int seeds, double bytes = 0, const Assignments &settings = {}) {
  RunRequest request = recall_of({"linear", "delta_net", "rls"}, seeds, settings);
  request.state_bytes = bytes;
  return ensembles_of(made_up(request, [](const Case &c) {
    return (c.variant->name == "delta_net" ? 0.75 : c.variant->name == "rls" ? 0.625 : 0.5) + double(c.seed) / 64;
  }));
}
bool says(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_pair_has_difference_interval_p_and_q) {
  std::ostringstream out;
  print_comparisons(out, results(6), {"delta_net", "linear"});
  const std::string text = out.str();
  BOOST_TEST(says(text, "recall: accuracy, first - second over shared seeds\n"), text);
  BOOST_TEST(says(text, "  delta_net - linear  0.25        0.25 to 0.25  0.0312  0.0312\n"), text);
  BOOST_TEST((!says(text, "rls") && says(text, "permutation test")), text);
}

BOOST_AUTO_TEST_CASE(each_value_swept_is_compared_by_itself) {
  std::ostringstream out;
  print_comparisons(out, results(6, 0, {{"n", "4,8"}}), {"delta_net", "linear"}, {"mse"});
  BOOST_TEST((says(out.str(), "recall n=4: mse,") && says(out.str(), "recall n=8: mse,")), out.str());
  BOOST_TEST(says(out.str(), "  0.5         0.5 to 0.5"), out.str());
}

BOOST_AUTO_TEST_CASE(too_few_seeds_are_said_to_be_too_few) {
  std::ostringstream out;
  print_comparisons(out, results(5), {"delta_net", "linear"});
  BOOST_TEST(says(out.str(), "p is at least 0.0625; take --seeds 8"), out.str());
}

BOOST_AUTO_TEST_CASE(a_ranking_has_widths_errors_and_pairs) {
  setenv("COLUMNS", "80", 1);
  std::ostringstream out;
  print_ranking(out, results(6, 4096), 4096, false);
  unsetenv("COLUMNS");
  const std::string text = out.str();
  BOOST_TEST(says(text, "at most 4096 bytes of state per head in f64, 6 seeds"), text);
  const size_t first = text.find("1     delta_net  22  22  3872"), second = text.find("2     rls        16  16  4096"),
               third = text.find("3     linear     22  22  3872");
  BOOST_TEST((first < second && second < third && third != std::string::npos), text);
  BOOST_TEST((says(text, "delta_net - rls") && says(text, "delta_net - linear") && says(text, "rls - linear")), text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) BOOST_TEST(line.size() <= 80u, line);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
