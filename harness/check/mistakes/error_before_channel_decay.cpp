// SPDX-License-Identifier: Apache-2.0
// The error lacks lambda: S_t = S_{t-1} diag(lambda) + beta (v - S_{t-1} k) k^T. The layer rwkv7 computes the same
// state if it erases along k / |k| with strength beta |k|^2 and writes beta v.
#include "harness/check/remake.hpp"
#include "harness/core/registry.hpp"

namespace recollect::mistakes {

Mistake error_before_channel_decay() {
  Mistake m;
  m.what = "the error of the delta rule is taken against the state before its channels decay";
  m.shows = "every output after the first, where lambda is not 1";
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    if (problem.variant.name != "kda") return {};
    return {{"the error v - S k is taken against the state before its channels decay",
             [&problem] {
               const Variant &rwkv7 = find_variant("rwkv7");
               CheckCase other{rwkv7, variant_params(rwkv7), problem.given, {}};
               const size_t Dk = size_t(problem.given.shape.Dk), Dv = size_t(problem.given.shape.Dv);
               other.given.w = problem.given.k;
               for (size_t t = 0; t < other.given.beta.size(); ++t) {
                 double square = 0;
                 for (size_t j = t * Dk; j < (t + 1) * Dk; ++j) square += problem.given.k[j] * problem.given.k[j];
                 for (size_t i = t * Dv; i < (t + 1) * Dv; ++i) other.given.v[i] *= problem.given.beta[t];
                 other.given.beta[t] *= square;
               }
               return as_results(other, outputs_of(other));
             },
             nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
