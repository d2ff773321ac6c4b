// SPDX-License-Identifier: Apache-2.0
#include "harness/core/papers.hpp"
#include "harness/core/claim_search.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "papers_table.hpp"

namespace recollect {

const std::vector<Paper> &all_papers() {
  static const std::vector<Paper> papers = [] {
    std::vector<Paper> all;
    for (const std::string &line : split(papers_table, '\n')) {
      const std::vector<std::string> cells = split(line, '\t');
      if (cells.size() == 7 && cells[0] != "number")
        all.push_back({cells[0], cells[4], cells[1], split(cells[5], '|'), cells[6]});
    }
    return all;
  }();
  return papers;
}

const Paper &find_paper(const std::string &name) {
  const ClaimQuery query = parse_claim_query(name);
  if (query.papers.size() == 1 && query.places.empty() && query.words.empty())
    for (const Paper &paper : all_papers())
      if (paper.number == *query.papers.begin()) return paper;
  std::vector<std::string> known;
  for (const Paper &paper : all_papers())
    known.push_back(paper.number + " (" + paper.names.back() + (paper.arxiv.empty() ? "" : ", arXiv " + paper.arxiv) +
                    ")");
  usage_error("no paper is called '" + name + "'; there are " + join(known, ", "));
}

} // namespace recollect
