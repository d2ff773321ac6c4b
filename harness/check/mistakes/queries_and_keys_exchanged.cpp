// SPDX-License-Identifier: Apache-2.0
// The kernel uses q_t as the key and k_t as the query.
#include "harness/check/remake.hpp"
#include <utility>

namespace recollect::mistakes {

Mistake queries_and_keys_exchanged() {
  Mistake m;
  m.what = "queries and keys are exchanged";
  m.shows = "every output";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    return {{"queries and keys are exchanged",
             [&problem] {
               Sequence other = problem.given;
               std::swap(other.q, other.k);
               return other;
             },
             [](Sequence &gradient) { std::swap(gradient.q, gradient.k); }}};
  };
  return m;
}

} // namespace recollect::mistakes
