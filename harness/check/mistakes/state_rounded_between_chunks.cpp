// SPDX-License-Identifier: Apache-2.0
// The kernel keeps the state in a 16-bit type between chunks, or between steps.
#include "harness/check/precision.hpp"
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_rounded_between_chunks() {
  Mistake m;
  m.what = "the state is rounded to a 16-bit type between chunks, or between steps";
  m.shows = "o from the second chunk on, and the state, in float32; in the 16-bit types where steps are many";
  m.reports = {"ollama #15865"};
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    if (!has_state(problem)) return all;
    std::vector<int> lengths = chunk_lengths(problem);
    lengths.push_back(1);
    for (int length : lengths)
      for (Precision precision : {Precision::bf16, Precision::f16})
        all.push_back({std::string("the state is rounded to ") + name_of(precision) + " between " +
                           (length == 1 ? "steps" : of_chunks(length)),
                       [&problem, length, precision] {
                         return forward_in_chunks(problem, length, [&](Numbers &state) {
                           for (double &x : state) x = rounded(x, precision);
                         });
                       },
                       nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
