// SPDX-License-Identifier: Apache-2.0
// The kernel returns the sum of dx_b over all batch entries b, instead of dx_b for each b.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gradient_summed_over_batch() {
  Mistake m;
  m.what = "a gradient is summed over the batch, as for a tensor that the batch shares";
  m.shows = "every element of the gradient, where B is more than 1";
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const size_t B = size_t(problem.given.shape.B), H = size_t(problem.given.shape.H);
    if (B == 1) return all;
    for (const std::string &name : gradient_names(right))
      all.push_back({name + " is summed over the batch", nullptr, [&right, name, H] {
                       return changed(right, {name}, [&](Part &part) {
                         const size_t size = H * part.rows * part.columns;
                         Numbers sums(size, 0.0);
                         for (size_t i = 0; i < part.values.size(); ++i) sums[i % size] += part.values[i];
                         for (size_t i = 0; i < part.values.size(); ++i) part.values[i] = sums[i % size];
                       });
                     }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
