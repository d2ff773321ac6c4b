// SPDX-License-Identifier: Apache-2.0
// The kernel returns S_T^T instead of S_T.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_returned_transposed() {
  Mistake m;
  m.what = "the state is returned transposed";
  m.shows = "the state alone, where Dk = Dv";
  m.reports = {"sgl-kernel-npu #640"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    if (!has_square_state(problem)) return {};
    return {{"the state is returned transposed",
             [&] {
               return changed(right, {"state"},
                              [&](Part &state) { state.values = transposed(state.values, problem.given.shape.Dk); });
             },
             nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
