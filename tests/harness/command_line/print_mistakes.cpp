// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print_mistakes.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_mistakes_)

BOOST_AUTO_TEST_CASE(all_are_listed_and_one_is_described_with_its_reports) {
  std::ostringstream list;
  print_mistakes(list);
  for (const Mistake &mistake : all_mistakes())
    BOOST_TEST(list.str().find(mistake.name + ": ") != std::string::npos, mistake.name);
  for (const ConventionMistake &mistake : convention_mistakes())
    BOOST_TEST(list.str().find(mistake.name + ": ") != std::string::npos, mistake.name);
  std::ostringstream page;
  describe(page, find_mistake("state_returned_transposed"));
  for (const char *heading : {"What is wrong: ", "Where it shows: ", "Public reports: "})
    BOOST_TEST(page.str().find(heading) != std::string::npos, page.str());
  page.str("");
  describe(page, convention_mistakes().front());
  BOOST_TEST(page.str().find("Public reports: fla #547") != std::string::npos, page.str());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
