// SPDX-License-Identifier: Apache-2.0
// The initial state is returned as the final state: the update went into a copy.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_not_updated() {
  Mistake m;
  m.what = "the state returned is the initial one: the update went into a copy";
  m.shows = "the state alone";
  m.reports = {"flashinfer #3490"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    if (!has_state(problem)) return {};
    return {{"the state returned is the initial one: the update went into a copy",
             [&] {
               return changed(right, {"state"}, [&](Part &state) {
                 state.values = initial_state(problem.variant, problem.given, problem.params);
               });
             },
             nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
