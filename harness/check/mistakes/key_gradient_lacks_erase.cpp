// SPDX-License-Identifier: Apache-2.0
// dk contains only the gradient through the write, although the layer also erases along the key.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake key_gradient_lacks_erase() {
  Mistake m;
  m.what = "dk lacks the part that comes through the erase";
  m.shows = "dk after the first step, or with an initial state, of layers whose erase key is the key";
  m.reports = {"fla #862"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    bool takes_key = false;
    for (const Input &input : problem.variant.inputs)
      takes_key = takes_key || (input.name == "w" && input.absent.empty());
    if (!problem.wants_gradient() || !takes_key || gives(problem, Tensor::w)) return {};
    return {{"dk lacks the part that comes through the erase", nullptr, [&] {
               CheckCase apart = problem;
               apart.given.w = problem.given.k;
               const PartList found = gradient_results(apart, apart.given);
               return changed(right, {"dk"}, [&](Part &part) { part.values = find_part(found, "dk")->values; });
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
