// SPDX-License-Identifier: Apache-2.0
// The kernel keeps dS in bfloat16 or float16 between chunks.
#include "harness/check/precision.hpp"
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_gradient_rounded() {
  Mistake m;
  m.what = "the gradient of the state is rounded to a 16-bit type between chunks";
  m.shows = "every gradient but dq, in float32";
  m.reports = {"fla #36", "fla #37"};
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    if (!problem.wants_gradient() || !has_state(problem)) return all;
    for (int length : chunk_lengths(problem))
      for (Precision precision : {Precision::bf16, Precision::f16})
        all.push_back({std::string("the gradient of the state is rounded to ") + name_of(precision) + " between " +
                           of_chunks(length),
                       nullptr, [&problem, length, precision] {
                         return backward_in_chunks(problem, length, [&](Numbers &dstate) {
                           for (double &x : dstate) x = rounded(x, precision);
                         });
                       }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
