// SPDX-License-Identifier: Apache-2.0
// The backward pass uses chunks of 2 C steps, the forward pass chunks of C steps: dS is missing at every second chunk
// boundary.
#include "harness/check/remake.hpp"
#include <algorithm>

namespace recollect::mistakes {

Mistake state_gradient_of_wider_chunks() {
  Mistake m;
  m.what = "the backward pass hands the gradient of the state back at every second chunk boundary only";
  m.shows = "every gradient but dq, of every second chunk";
  m.reports = {"fla 769035e9", "fla #876"};
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    if (!problem.wants_gradient() || !has_state(problem)) return all;
    for (int length : chunk_lengths(problem))
      all.push_back({"the gradient of the state is missing at every second boundary of " + of_chunks(length), nullptr,
                     [&problem, length] {
                       int boundary = (problem.given.shape.T - 1) / length; // from the last to the first
                       return backward_in_chunks(problem, length, [&](Numbers &dstate) {
                         if (boundary-- % 2) std::fill(dstate.begin(), dstate.end(), 0.0);
                       });
                     }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
