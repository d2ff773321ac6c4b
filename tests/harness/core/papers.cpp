// SPDX-License-Identifier: Apache-2.0
#include "harness/core/papers.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "tests/testing.hpp"
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(papers)

BOOST_AUTO_TEST_CASE(they_are_those_of_the_claims) {
  std::set<std::string> cited, known;
  for (const Claim &c : all_claims()) cited.insert(c.source.substr(0, c.source.find(' ')));
  for (const Paper &p : all_papers()) {
    known.insert(p.number);
    BOOST_TEST((!p.title.empty() && !p.names.empty() && !p.read.empty()), p.number << ": title, names, what was read");
    for (const std::string &name : p.names) BOOST_TEST(find_paper(name).number == p.number, name);
  }
  BOOST_TEST(cited == known, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_paper_goes_by_its_numbers_title_and_names) {
  for (const char *name : {"004", "2605.11196", "arXiv:2605.11196v2", "VLA", "Variational Linear Attention"})
    BOOST_TEST(find_paper(name).number == "004", name);
  BOOST_TEST(find_paper("Test-time regression").number == "003");
  for (const char *name : {"2411.12537", "arXiv:2411.12537v5", "Unlocking State-Tracking"})
    BOOST_TEST(find_paper(name).number == "2411.12537", name);
  for (const char *name : {"", "7", "1234.56789", "004 Eq 2", "VLA and more"})
    BOOST_CHECK_EXCEPTION(find_paper(name), Error, [&](const Error &e) {
      return e.code == exit_usage && std::string(e.what()).find("there are 000 (") != std::string::npos;
    });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
