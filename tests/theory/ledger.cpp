// SPDX-License-Identifier: Apache-2.0
// ledger.txt is an independent study of papers 000 to 004. Every row of it is covered by a claim that expects the row's
// verdict. Claims of these papers name existing rows only, or none. A claim of any other paper is a row by itself, so
// that adding a claim edits no list.
#include "build_config.hpp"
#include "harness/core/text.hpp"
#include "tests/testing.hpp"
#include <fstream>
#include <map>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(ledger)

/// Row -> verdict as written there: "holds", "refuted (paper)", "not_tested (needs_training)" ...
std::map<std::string, std::string> read_ledger() {
  std::ifstream file(RECOLLECT_SOURCE_DIR "/tests/theory/ledger.txt");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (const size_t tab = line.find('\t'); tab != std::string::npos)
      rows[canonical(line.substr(0, tab))] = line.substr(tab + 1);
  return rows;
}

/// A claim's expectation in the ledger's words, which leave the condition of holds_under to the claim.
std::string expectation(const Claim &c) {
  return c.expected == Verdict::holds_under ? name_of(c.expected) : qualified(c.expected, c);
}

/// Whether ledger.txt is about this claim's paper.
bool studied(const Claim &c) { return c.source.rfind("00", 0) == 0; }

BOOST_AUTO_TEST_CASE(every_row_is_covered_and_every_claim_expects_its_rows_verdicts) {
  std::map<std::string, std::string> open = read_ledger();
  const std::map<std::string, std::string> rows = open;
  BOOST_TEST_REQUIRE(!rows.empty());
  for (const Claim &c : all_claims())
    for (const std::string &name : c.covers) {
      if (!studied(c)) {
        BOOST_TEST(canonical(name) == c.id,
                   c.id << " covers " << name << "; outside 000 to 004 a claim is its own row");
        BOOST_TEST(rows.count(canonical(name)) == 0u, name << " is a row of ledger.txt, which is about 000 to 004");
        continue;
      }
      const auto row = rows.find(canonical(name));
      BOOST_TEST_REQUIRE((row != rows.end()), c.id << " covers " << name << ", which the ledger does not have");
      BOOST_TEST(expectation(c) == row->second,
                 c.id << " expects " << expectation(c) << ", the ledger's row " << name << " says " << row->second);
      open.erase(row->first);
    }
  for (const auto &[row, verdict] : open) BOOST_ERROR(row << " (" << verdict << ") is covered by no claim");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
