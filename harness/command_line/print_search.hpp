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

/// Everything that matches. A citation matches claims only. Empty for an empty query.
SearchResult search(const ClaimQuery &query);

/// A short list: two lines per claim, one per other entry, at most ten of each kind. For a whole paper: a summary of
/// its outcomes.
void print_search(std::ostream &out, const std::string &text, const ClaimQuery &query, const SearchResult &found);

} // namespace recollect
