// SPDX-License-Identifier: Apache-2.0
// suites/papers.toml makes every figure and table of the papers that needs no training: each tested claim whose source
// names one is among its claims.
#include "build_config.hpp"
#include "harness/files/suite.hpp"
#include "tests/testing.hpp"
#include <regex>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(papers_suite)

BOOST_AUTO_TEST_CASE(holds_every_tested_figure_and_table) {
  const Suite papers = load_suite(RECOLLECT_SOURCE_DIR "/suites/papers.toml");
  std::set<std::string> selected, drawn;
  for (const Claim *c : select_claims(papers.claims)) selected.insert(c->id);
  for (const Experiment &e : papers.experiments) drawn.insert(e.request.experiment);
  BOOST_TEST(drawn.size() == papers.experiments.size()); // a name each
  const std::regex figure_or_table("\\b(Figs?|Tables?) [0-9]");
  int found = 0;
  for (const Claim &c : all_claims()) {
    if (c.expected == Verdict::not_tested || !std::regex_search(c.source, figure_or_table)) continue;
    ++found;
    BOOST_TEST(selected.count(c.id) == 1u, c.id << " (" << c.source << ") is not among the claims of papers.toml");
  }
  BOOST_TEST(found > 30);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
