// SPDX-License-Identifier: Apache-2.0
// The kernel returns dalpha_{t-1} or dalpha_{t+1} in the place of dalpha_t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_gradient_one_step_off() {
  Mistake m;
  m.what = "the gradient of a gate, or of beta, is one step late or early";
  m.shows = "the gate's gradient";
  m.make = [](const CheckCase &, const PartList &right) {
    std::vector<Made> all;
    for (const char *name : {"dbeta", "dalpha", "dlambda"})
      for (bool late : {true, false})
        if (find_part(right, name))
          all.push_back(
              {std::string(name) + (late ? " is one step late" : " is one step early"), nullptr, [&right, name, late] {
                 return changed(right, {name}, [&](Part &part) {
                   const Part own = part;
                   for (size_t row = 0; row < own.heads * own.rows; ++row) {
                     const size_t t = row % own.rows;
                     const bool edge = late ? t == 0 : t + 1 == own.rows;
                     for (size_t j = 0; j < own.columns; ++j)
                       part.values[row * own.columns + j] =
                           edge ? 0 : own.values[(late ? row - 1 : row + 1) * own.columns + j];
                   }
                 });
               }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
