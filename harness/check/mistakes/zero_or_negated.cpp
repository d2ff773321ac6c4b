// SPDX-License-Identifier: Apache-2.0
// o = 0 or -o instead of o, and likewise the state.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake zero_or_negated() {
  Mistake m;
  m.what = "o or the state is zero, or has the wrong sign";
  m.shows = "everywhere";
  m.reports = {"fla #903", "fla #1077"};
  m.make = [](const CheckCase &, const PartList &right) {
    std::vector<Made> all;
    const auto add = [&](const std::string &what, const std::vector<std::string> &names, double factor) {
      all.push_back({what,
                     [&right, names, factor] {
                       return changed(right, names, [&](Part &part) {
                         for (double &x : part.values) x *= factor;
                       });
                     },
                     nullptr});
    };
    add("o and the state are zero: nothing was written", {"o", "state"}, 0);
    add("o is zero", {"o"}, 0);
    add("the state is zero", {"state"}, 0);
    add("the sign of o is wrong", {"o"}, -1);
    add("the sign of the state is wrong", {"state"}, -1);
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
