// SPDX-License-Identifier: Apache-2.0
#include "harness/train/adjoint.hpp"
#include "harness/pipeline/gradient.hpp"

namespace recollect::train {

Adjoint find_adjoint(const std::string &variant) {
  static const std::map<std::string, Adjoint> all{{"rls", rls_adjoint}, {"delta_former", delta_former_adjoint}};
  const auto found = all.find(variant);
  return found == all.end() ? nullptr : found->second;
}

Sequence mixer_gradient(const Variant &variant, const Sequence &s, const Params &params,
                        const std::vector<double> &weights) {
  const Adjoint own = find_adjoint(variant.name);
  return own ? own(s, params, weights) : gradient(variant, s, params, {weights, {}});
}

Sequence zeros_like(const Sequence &s) {
  Sequence zero;
  zero.shape = s.shape;
  for (Tensor tensor : all_tensors) zero[tensor].assign(s[tensor].size(), 0.0);
  return zero;
}

} // namespace recollect::train
