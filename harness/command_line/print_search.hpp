// SPDX-License-Identifier: Apache-2.0
// Output of `explain` if several entries match.
#pragma once
#include "harness/check/mistakes.hpp"
#include "harness/core/claim_search.hpp"
#include "harness/core/registry.hpp"
#include <iosfwd>

namespace recollect {

struct SearchResult {
  std::vector<const Claim *> claims;
  std::vector<const Variant *> variants;
  std::vector<const Task *> tasks;
  std::vector<const Mistake *> mistakes;
  size_t size() const { return claims.size() + variants.size() + tasks.size() + mistakes.size(); }
};

/// Whether the query is a paper and nothing else.
bool names_a_paper(const ClaimQuery &query);

/// All entries that match the query. A citation matches claims only. Nothing matches an empty query.
SearchResult search(const ClaimQuery &query);

/// Prints a short list of what was found: two lines per claim and one line per other entry, at most ten entries of each
/// kind. If the query is a paper and nothing else, counts the verdicts of its claims instead.
void print_search(std::ostream &out, const std::string &text, const ClaimQuery &query, const SearchResult &found);

} // namespace recollect
