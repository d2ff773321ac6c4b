// SPDX-License-Identifier: Apache-2.0
// No row of the ledger is left out, none is invented, and every verdict is the independent study's.
#include "build_config.hpp"
#include "testing.hpp"
#include "text.hpp"
#include <fstream>
#include <map>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(ledger)

/// Row -> verdict as written there: "holds", "refuted (paper)", "under_specified" ...
std::map<std::string, std::string> read_ledger() {
  std::ifstream file(RECOLLECT_SOURCE_DIR "/tests/theory/ledger.txt");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (const size_t tab = line.find('\t'); tab != std::string::npos)
      rows[canonical(line.substr(0, tab))] = line.substr(tab + 1);
  return rows;
}

/// A claim's verdict in the ledger's words.
std::string stated(const Claim &c) {
  const std::string verdict = name_of(c.expected);
  return c.expected == Verdict::refuted ? verdict + " (" + c.scope + ")" : verdict;
}

/// Rows without a verdict of their own are covered by what can be measured beside them, which holds.
bool agrees(const std::string &row, const Claim &c) {
  return stated(c) == (row == "under_specified" || row == "not_numeric" ? "holds" : row);
}

BOOST_AUTO_TEST_CASE(every_row_is_covered_with_its_verdict) {
  const auto rows = read_ledger();
  BOOST_TEST(rows.size() == 264u);
  for (const auto &[row, verdict] : rows) {
    bool covered = false, agreed = false;
    for (const Claim &c : all_claims())
      for (const std::string &name : c.covers)
        if (canonical(name) == row) covered = true, agreed = agreed || agrees(verdict, c);
    BOOST_TEST(covered, row << " is covered by no claim");
    BOOST_TEST(agreed, row << ": no claim that covers it says " << verdict);
  }
}

BOOST_AUTO_TEST_CASE(claims_cover_rows_that_exist) {
  const auto rows = read_ledger();
  for (const Claim &c : all_claims())
    for (const std::string &name : c.covers) BOOST_TEST(rows.count(canonical(name)) == 1u, c.id << " covers " << name);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
