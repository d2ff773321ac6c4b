// SPDX-License-Identifier: Apache-2.0
// Finds claims by the text that a user types: a citation ("004 Prop 2", "Eq. (17)", "VLA Proposition 2",
// "arXiv:2605.11196"), words ("delta rule"), or both.
#pragma once
#include "harness/core/claim.hpp"
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace recollect {

/// A place in a paper, as kind and number: "prop" "2", "eq" "17", "section" "2.2.1", "appendix" "a.1", "fig" "2b".
struct Place {
  std::string paper, kind, number; // paper: its number (papers.hpp), "" if the text names none
  friend bool operator<(const Place &a, const Place &b) {
    return std::tie(a.paper, a.kind, a.number) < std::tie(b.paper, b.kind, b.number);
  }
  friend bool operator==(const Place &a, const Place &b) { return !(a < b) && !(b < a); }
};

struct ClaimQuery {
  std::set<std::string> papers; // numbers of papers
  std::set<Place> places;
  std::vector<std::string> words; // the remaining words, in lower case
};

/// Any text is a query. A range or a list stands for all of its places: "Eq 5-7, 9" is Eq 5, 6, 7 and 9.
ClaimQuery parse_claim_query(const std::string &text);

/// A claim matches if it is of one of the query's papers (or the query names no paper), if its source names every place
/// of the query, and if its texts contain every word of the query. A section contains its subsections, and a figure its
/// panels.
bool matches(const ClaimQuery &query, const Claim &claim);

/// The claims that match. Claims with the query's words in their names come first, then claims with the words in their
/// statements, then other claims of papers. Claims that were derived from a statement come last.
std::vector<const Claim *> search_claims(const std::vector<Claim> &claims, const ClaimQuery &query);

/// Whether every one of `words` is a word of `text` or the beginning of such a word. '-' and '_' separate words.
bool has_words(const std::string &text, const std::vector<std::string> &words);

} // namespace recollect
