// SPDX-License-Identifier: Apache-2.0
// S_t = alpha_t (S_{t-1} + v_t k_t^T) instead of alpha_t S_{t-1} + v_t k_t^T.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake new_pair_decayed() {
  Mistake m;
  m.what = "the gate also decays the pair that is being written: decay after the write";
  m.shows = "every output, where gates are not 1";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::alpha)) return {};
    const Numbers &alpha = problem.given.alpha;
    const size_t Dv = size_t(problem.given.shape.Dv);
    return {{"alpha also decays the pair that is being written",
             [&problem, &alpha, Dv] {
               Sequence other = problem.given;
               for (size_t i = 0; i < other.v.size(); ++i) other.v[i] *= alpha[i / Dv];
               return other;
             },
             [&problem, &alpha, Dv](Sequence &gradient) {
               for (size_t i = 0; i < gradient.v.size(); ++i) {
                 gradient.alpha[i / Dv] += gradient.v[i] * problem.given.v[i];
                 gradient.v[i] *= alpha[i / Dv];
               }
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
