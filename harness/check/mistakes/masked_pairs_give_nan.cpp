// SPDX-License-Identifier: Apache-2.0
// For a masked pair, j > i, exp(G_i - G_j) is inf, and its gradient is 0 * inf = NaN. G is the sum of log gates since
// the start of the chunk.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake masked_pairs_give_nan() {
  Mistake m;
  m.what = "gradients are NaN where a chunk's log gates sum to less than -88: masked pairs overflow";
  m.shows = "dq, dk and the gates' gradients of heads that decay strongly; o is right";
  m.reports = {"transformers #48455", "fla-npu #448"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    if (!problem.wants_gradient() || given_gates(problem).empty()) return all;
    const size_t T = size_t(problem.given.shape.T);
    std::vector<int> lengths = chunk_lengths(problem);
    lengths.push_back(int(T));
    for (int length : lengths)
      all.push_back(
          {"dq, dk and the gates' gradients are NaN in " + of_chunks(length) + " whose log gates sum to less than -88",
           nullptr, [&problem, &right, T, length] {
             const Numbers rates = decay_rates(problem);
             return changed(right, {"dq", "dk", "dbeta", "dalpha", "dlambda"}, [&](Part &part) {
               for (size_t head = 0; head < part.heads; ++head)
                 for (const Steps &steps : chunks(int(T), length)) {
                   double sum = 0; // without the first gate of the chunk, which cancels in every G_i - G_j
                   for (size_t t = size_t(steps.begin) + 1; t < size_t(steps.end); ++t) sum += rates[head * T + t];
                   if (sum > 88)
                     std::fill(row_of(part, head, size_t(steps.begin)),
                               row_of(part, head, size_t(steps.begin)) + size_t(steps.end - steps.begin) * part.columns,
                               std::nan(""));
                 }
             });
           }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
