// SPDX-License-Identifier: Apache-2.0
// dx of one batch entry is returned for every entry, as if the batch shared x and the sum over the batch were
// forgotten.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gradient_of_one_batch_entry() {
  Mistake m;
  m.what = "all batch entries get the gradient of one entry: the sum over the batch was overwritten";
  m.shows = "the other batch entries";
  m.reports = {"fla #360"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const size_t B = size_t(problem.given.shape.B), H = size_t(problem.given.shape.H);
    if (B == 1) return all;
    for (const std::string &name : gradient_names(right))
      for (size_t entry : {size_t(0), B - 1})
        all.push_back({name + " of batch entry " + std::to_string(entry) + " is returned for all entries", nullptr,
                       [&right, name, H, entry] {
                         return changed(right, {name}, [&](Part &part) {
                           const Numbers own = part.values;
                           const size_t size = H * part.rows * part.columns;
                           for (size_t i = 0; i < own.size(); ++i) part.values[i] = own[entry * size + i % size];
                         });
                       }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
