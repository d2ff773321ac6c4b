// SPDX-License-Identifier: Apache-2.0
#include "harness/core/papers.hpp"
#include "harness/core/claim_search.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"

namespace recollect {

const std::vector<Paper> &all_papers() {
  static const std::vector<Paper> papers{
      {"000",
       "Understanding Transformer from the Perspective of Associative Memory",
       "2505.19488",
       {"understanding transformer from the perspective of associative memory", "understanding transformer"}},
      {"002",
       "A unifying view of linear attention, Part 1",
       "",
       {"a unifying view of linear attention", "unifying view of linear attention", "unifying view"}},
      {"003",
       "Test-time regression: a unifying framework for designing sequence models with associative memory",
       "2501.12352",
       {"test time regression", "ttr"}},
      {"004",
       "Variational Linear Attention: Stable Associative Memory for Long-Context Transformers",
       "2605.11196",
       {"variational linear attention", "vla"}},
  };
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
