// SPDX-License-Identifier: Apache-2.0
// Rows past T load a log gate of 0. Where the log gates of the last chunk sum to G_j < -88, exp(0 - G_j) is inf, and
// inf * 0 is NaN.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake tail_overflows() {
  Mistake m;
  m.what = "the last partial chunk is NaN where its log gates sum to less than -88: exp(88) overflows in float32";
  m.shows = "the rows of the last partial chunk, in heads that decay strongly";
  m.reports = {"fla #794", "fla #792", "mamba bb3a82a"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const size_t T = size_t(problem.given.shape.T);
    for (int length : chunk_lengths(problem)) {
      if (T % size_t(length) == 0) continue;
      const auto overflow = [&problem, T, length](Part &part) {
        const Numbers rates = decay_rates(problem);
        const size_t begin = T / size_t(length) * size_t(length);
        for (size_t head = 0; head < part.heads; ++head) {
          double sum = 0;
          for (size_t t = begin; t < T; ++t) sum += rates[head * T + t];
          if (sum > 88)
            std::fill(row_of(part, head, begin), row_of(part, head, begin) + (T - begin) * part.columns, std::nan(""));
        }
      };
      const std::string where = " of the last partial chunk of " + std::to_string(length) +
                                " are NaN where its log gates sum to less than -88";
      all.push_back({"the outputs" + where, [&right, overflow] { return changed(right, {"o"}, overflow); }, nullptr});
      all.push_back({"the gradients of v and beta" + where, nullptr, [&right, overflow] {
                       return changed(right, {"dv", "dbeta"}, overflow);
                     }});
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
