// SPDX-License-Identifier: Apache-2.0
// The kernel writes k_t v_t^T instead of v_t k_t^T. In additive rules this transposes the state.
#include "harness/check/remake.hpp"
#include <utility>

namespace recollect::mistakes {

Mistake keys_and_values_exchanged() {
  Mistake m;
  m.what = "keys and values are exchanged: the state is written transposed";
  m.shows = "every output and the state, where Dk = Dv";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (problem.given.shape.Dk != problem.given.shape.Dv) return {};
    return {{"keys and values are exchanged: the state is written transposed",
             [&problem] {
               Sequence other = problem.given;
               std::swap(other.k, other.v);
               return other;
             },
             [](Sequence &gradient) { std::swap(gradient.k, gradient.v); }}};
  };
  return m;
}

} // namespace recollect::mistakes
