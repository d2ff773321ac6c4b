// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print_search.hpp"
#include "tests/testing.hpp"
#include <cstdlib>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_search_results)

std::string printed(const std::string &text) {
  const ClaimQuery query = parse_claim_query(text);
  std::ostringstream out;
  print_search(out, text, query, search(query));
  return out.str();
}

BOOST_AUTO_TEST_CASE(words_are_looked_for_in_every_kind_of_entry) {
  BOOST_TEST(search(parse_claim_query("state")).claims.size() > 0u);
  BOOST_TEST(search(parse_claim_query("state")).mistakes.size() > 0u);
  BOOST_TEST(search(parse_claim_query("gated")).variants.size() > 0u);
  BOOST_TEST(search(parse_claim_query("pairs")).tasks.size() > 0u);
  BOOST_TEST(search(parse_claim_query("004 Prop 2")).size() == search(parse_claim_query("004 Prop 2")).claims.size());
  BOOST_TEST(search(parse_claim_query("")).size() == 0u); // an empty query would match every claim
}

BOOST_AUTO_TEST_CASE(a_long_list_is_cut_and_says_how_to_see_it_all) {
  const std::string text = printed("state");
  BOOST_TEST(text.find("... and ") != std::string::npos, text);
  BOOST_TEST(text.find("recollect list claims --search 'state'") != std::string::npos, text);
  BOOST_TEST(printed("Prop 2").find("--search") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_line_ends_where_the_terminal_does) {
  setenv("COLUMNS", "80", 1);
  std::istringstream lines(printed("state"));
  unsetenv("COLUMNS");
  size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  BOOST_TEST((longest > 60 && longest <= 86), longest); // a Greek letter has two bytes
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
