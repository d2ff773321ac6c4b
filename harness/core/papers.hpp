// SPDX-License-Identifier: Apache-2.0
// The papers whose statements are measured, with the names that people give them. The table is reports/papers.tsv,
// which the site reads as well.
#pragma once
#include <string>
#include <vector>

namespace recollect {

struct Paper {
  std::string number;             // as in Claim::source: "004", or the arXiv number
  std::string title, arxiv;       // arxiv: the arXiv number, "" if there is none
  std::vector<std::string> names; // names of the paper in citations: lower case, words separated by a space
  std::string read;               // how much of the paper was read before its claims were written
};
const std::vector<Paper> &all_papers();

/// The paper with this number, arXiv number ("arXiv:2605.11196v1") or name. If there is none, a usage error lists the
/// papers.
const Paper &find_paper(const std::string &name);

} // namespace recollect
