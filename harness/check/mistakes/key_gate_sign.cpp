// SPDX-License-Identifier: Apache-2.0
// dk and dv contain exp(G_i + G_j) instead of exp(G_i - G_j): G_j, the sum of log gates up to the key, has the wrong
// sign.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake key_gate_sign() {
  Mistake m;
  m.what = "the key's sum of log gates enters dk and dv with the wrong sign";
  m.shows = "dk and dv, where gates are not 1";
  m.reports = {"fla 7362d874"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    if (!problem.wants_gradient() || !gives(problem, Tensor::alpha)) return {};
    return {{"the key's sum of log gates enters dk and dv with the wrong sign", nullptr, [&] {
               return changed(right, {"dk", "dv"}, [&](Part &part) {
                 for (size_t head = 0; head < part.heads; ++head) {
                   double product = 1; // exp(G_j)
                   for (size_t t = 0; t < part.rows; ++t) {
                     product *= problem.given.alpha[head * part.rows + t];
                     for (size_t j = 0; j < part.columns; ++j) row_of(part, head, t)[j] *= product * product;
                   }
                 }
               });
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
