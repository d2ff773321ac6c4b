// SPDX-License-Identifier: Apache-2.0
// Zero keys that pad the last tile count in the normaliser, because their scores are 0 instead of -inf.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake padding_not_masked() {
  Mistake m;
  m.what = "zero keys that pad a tile are not masked: their scores of 0 count in the normaliser";
  m.shows = "every output of a layer that normalises over keys, where T is no multiple of the tile";
  m.reports = {"flash-linear-attention d7150bf9"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const Shape &n = problem.given.shape;
    if (has_state(problem)) return all;
    for (int length : {16, 32, 64, 128}) {
      const int pad = (length - n.T % length) % length;
      if (pad == 0) continue;
      const auto o = [&problem, &n, pad] {
        const Numbers all_rows = outputs_of(padded(problem, pad, 0)).o; // padding at the start, which every query sees
        Numbers kept;
        const size_t rows = size_t(n.T + pad) * size_t(n.Dv), first = size_t(pad) * size_t(n.Dv);
        for (size_t head = 0; head < n.heads(); ++head)
          kept.insert(kept.end(), all_rows.begin() + std::ptrdiff_t(head * rows + first),
                      all_rows.begin() + std::ptrdiff_t((head + 1) * rows));
        return kept;
      };
      const std::string what =
          std::to_string(pad) + " keys that pad tiles of " + std::to_string(length) + " are not masked";
      all.push_back(
          {what, [&right, o] { return changed(right, {"o"}, [&](Part &part) { part.values = o(); }); }, nullptr});
      all.push_back({what + " in the last tile of queries",
                     [&right, &n, o, length] {
                       return changed(right, {"o"}, [&](Part &part) {
                         const Numbers wrong = o();
                         for (size_t i = 0; i < wrong.size(); ++i)
                           if (int(i / part.columns % part.rows) >= n.T / length * length) part.values[i] = wrong[i];
                       });
                     },
                     nullptr});
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
