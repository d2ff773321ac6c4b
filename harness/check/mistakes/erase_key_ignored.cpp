// SPDX-License-Identifier: Apache-2.0
// The kernel uses k_t instead of the given w_t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake erase_key_ignored() {
  Mistake m;
  m.what = "the erase or lookup key w is ignored: the key takes its place";
  m.shows = "every output after the first, where w is given and is not the key";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::w)) return {};
    return {{"w is ignored: the key takes its place",
             [&problem] {
               Sequence other = problem.given;
               other.w = other.k;
               return other;
             },
             [](Sequence &gradient) {
               for (size_t i = 0; i < gradient.k.size(); ++i) gradient.k[i] += gradient.w[i], gradient.w[i] = 0;
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
