// SPDX-License-Identifier: Apache-2.0
// G_i is the sum of log gates since the start of the chunk. Where G_i < -88, k exp(-G_i) overflows to infinity.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake chunk_overflows() {
  Mistake m;
  m.what =
      "o and the state are NaN from the first chunk whose log gates sum to less than -88: exp(88) overflows in float32";
  m.shows = "heads that decay strongly, from some chunk on";
  m.reports = {"fla #649", "cudnn-frontend #1017"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const size_t T = size_t(problem.given.shape.T);
    for (int length : chunk_lengths(problem))
      all.push_back({"NaN from the first of the " + of_chunks(length) + " whose log gates sum to less than -88",
                     [&problem, &right, T, length] {
                       const Numbers rates = decay_rates(problem);
                       std::vector<size_t> first(right.front().heads, T);
                       for (size_t head = 0; head < first.size(); ++head) {
                         double sum = 0;
                         for (size_t t = 0; t < T && first[head] == T; ++t) {
                           sum = t % size_t(length) ? sum + rates[head * T + t] : rates[head * T + t];
                           if (sum > 88) first[head] = t / size_t(length) * size_t(length);
                         }
                       }
                       return changed(right, {"o", "state"}, [&](Part &part) {
                         for (size_t head = 0; head < part.heads; ++head)
                           for (size_t row = part.over_steps ? first[head] : 0; first[head] < T && row < part.rows;
                                ++row)
                             std::fill(row_of(part, head, row), row_of(part, head, row) + part.columns, std::nan(""));
                       });
                     },
                     nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
