// SPDX-License-Identifier: Apache-2.0
// A call with T tokens takes the code path for a single token: S_t = S_1 for all t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake first_token_only() {
  Mistake m;
  m.what = "only the first step is written: a call with a state takes the branch for one token";
  m.shows = "all steps but the first, and the state";
  m.reports = {"transformers #46741"};
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    const Shape n = problem.given.shape;
    if (n.T == 1 || !has_state(problem)) return {};
    return {{"only the first step is written; all read the state after it",
             [&problem, n] {
               Misread first = gathered(problem, {"k", "v", "beta", "alpha", "lambda", "w"}, "", [](Place p) {
                 return Place{p.head, 0, p.column};
               });
               CheckCase each = with_inputs(problem, first.inputs()); // every step becomes a head
               each.weights = {};
               each.given.shape.H *= n.T, each.given.shape.T = 1;
               const Numbers start = initial_state(problem.variant, problem.given, problem.params);
               const size_t size = start.size() / n.heads();
               each.given.state.clear();
               for (size_t step = 0; step < n.heads() * size_t(n.T); ++step) {
                 const auto from = start.begin() + std::ptrdiff_t(step / size_t(n.T) * size);
                 each.given.state.insert(each.given.state.end(), from, from + std::ptrdiff_t(size));
               }
               Output out = outputs_of(each), whole;
               whole.o = out.o;
               for (size_t head = 0; head < n.heads(); ++head) {
                 const auto from = out.state.begin() + std::ptrdiff_t(head * size_t(n.T) * size);
                 whole.state.insert(whole.state.end(), from, from + std::ptrdiff_t(size));
               }
               return as_results(problem, whole);
             },
             nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
