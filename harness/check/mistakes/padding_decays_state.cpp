// SPDX-License-Identifier: Apache-2.0
// The last chunk is padded with steps whose gates equal the gates of the last step. They decay the final state.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake padding_decays_state() {
  Mistake m;
  m.what = "the steps that pad the last chunk decay the final state";
  m.shows = "the state alone, where T is no multiple of the chunk length";
  m.reports = {"transformers #46190", "mamba #368"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const Shape &n = problem.given.shape;
    if (!has_state(problem)) return all;
    for (int length : {16, 32, 64, 128, 256}) {
      if (n.T % length == 0) continue;
      all.push_back({"the steps that pad the last chunk to " + std::to_string(length) + " decay the final state",
                     [&problem, &right, &n, length] {
                       CheckCase longer = padded(problem, 0, length - n.T % length);
                       const long last = n.T - 1;
                       longer.given = gathered(longer, {"alpha", "lambda"}, "", [last](Place p) {
                                        return p.row > last ? Place{p.head, last, p.column} : p;
                                      }).inputs();
                       return changed(right, {"state"}, [&](Part &state) { state.values = outputs_of(longer).state; });
                     },
                     nullptr});
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
