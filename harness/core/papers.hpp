// SPDX-License-Identifier: Apache-2.0
// The papers whose statements are measured, with the names that people give them. Read from reports/papers.tsv, which
// the site reads as well.
#pragma once
#include <string>
#include <vector>

namespace recollect {

struct Paper {
  std::string number;             // in `Claim::source`: "004", or the arXiv number
  std::string title, arxiv;       // arxiv: the arXiv number, "" if there is none
  std::vector<std::string> names; // names of the paper in citations: lower case, words separated by a space
  std::string read;               // how much of the paper was read before its claims were written
};
const std::vector<Paper> &all_papers();

/// By number, arXiv number ("arXiv:2605.11196v1"), title or name. Usage error that lists the papers if there is none.
const Paper &find_paper(const std::string &name);

} // namespace recollect
