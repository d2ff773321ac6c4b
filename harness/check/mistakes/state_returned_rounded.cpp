// SPDX-License-Identifier: Apache-2.0
// The final state is rounded to a 16-bit type before it is stored in a float32 buffer.
#include "harness/check/precision.hpp"
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_returned_rounded() {
  Mistake m;
  m.what = "the state is rounded to a 16-bit type where it is returned";
  m.shows = "the state alone, in float32";
  m.reports = {"ollama #15865"};
  m.make = [](const CheckCase &, const PartList &right) {
    std::vector<Made> all;
    for (Precision precision : {Precision::bf16, Precision::f16})
      all.push_back({std::string("the state is rounded to ") + name_of(precision) + " where it is returned",
                     [&right, precision] {
                       return changed(right, {"state"}, [&](Part &state) {
                         for (double &x : state.values) x = rounded(x, precision);
                       });
                     },
                     nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
