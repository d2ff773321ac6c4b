// SPDX-License-Identifier: Apache-2.0
// The kernel returns dq as dk and dk as dq, or exchanges another pair of gradients.
#include "harness/check/remake.hpp"
#include <utility>

namespace recollect::mistakes {

Mistake gradients_exchanged() {
  Mistake m;
  m.what = "two gradients are exchanged";
  m.shows = "every element of both";
  m.reports = {"fla #155"};
  m.make = [](const CheckCase &, const PartList &right) {
    std::vector<Made> all;
    const std::pair<const char *, const char *> pairs[] = {
        {"dq", "dk"}, {"dk", "dv"}, {"dbeta", "dalpha"}, {"dk", "dw"}};
    for (const auto &[one, other] : pairs) {
      const Part *a = find_part(right, one), *b = find_part(right, other);
      if (!a || !b || a->values.size() != b->values.size()) continue;
      all.push_back({std::string(one) + " and " + other + " are exchanged", nullptr, [a, b] {
                       PartList both{*a, *b};
                       std::swap(both[0].values, both[1].values);
                       return both;
                     }});
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
