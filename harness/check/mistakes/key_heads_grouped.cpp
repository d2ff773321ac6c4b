// SPDX-License-Identifier: Apache-2.0
// Head h uses k and v of head h / 2, or of head h mod H/2, as if two heads shared keys and values.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake key_heads_grouped() {
  Mistake m;
  m.what = "pairs of heads share keys and values: head h reads those of head h / 2, or of head h mod H/2";
  m.shows = "all heads but the first";
  m.reports = {"transformers #37533", "tvm #17466"};
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    const long H = problem.given.shape.H;
    if (H % 2) return {};
    return {gathered(problem, {"k", "v"}, "head h reads the keys and values of head h / 2",
                     [H](Place p) {
                       return Place{p.head / H * H + p.head % H / 2, p.row, p.column};
                     }),
            gathered(problem, {"k", "v"}, "head h reads the keys and values of head h mod H/2", [H](Place p) {
              return Place{p.head / H * H + p.head % H % (H / 2), p.row, p.column};
            })};
  };
  return m;
}

} // namespace recollect::mistakes
