// SPDX-License-Identifier: Apache-2.0
// Every head of a text uses the gates of head 0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_of_head_0() {
  Mistake m;
  m.what = "every head takes the gates of head 0";
  m.shows = "heads from 1 on";
  m.reports = {"mlx-lm #1792", "fla #624", "fla #1085"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    const long H = problem.given.shape.H;
    if (H == 1) return all;
    for (const char *name : {"beta", "alpha", "lambda"})
      if (gives(problem, tensor_named(name)))
        all.push_back(
            gathered(problem, {name}, "every head takes the " + std::string(name) + " of head 0", [H](Place p) {
              return Place{p.head / H * H, p.row, p.column};
            }));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
