// SPDX-License-Identifier: Apache-2.0
// delta_rule() is compiled once here for all layers that call it.
#include "variants/kernels/chunked/delta_rule_algebra.hpp"
#include "variants/kernels/chunked/forward.hpp"

namespace recollect::variants {

template <class Real> void delta_rule(const std::string &label, const Call<Real> &call, const DeltaRule<Real> &in) {
  if constexpr (std::is_same<Real, float>::value)
    if (run_static(label, call, in)) return;
  run_chunks(label, call, delta_rule_algebra(call, in));
}

template void delta_rule(const std::string &, const Call<float> &, const DeltaRule<float> &);
template void delta_rule(const std::string &, const Call<double> &, const DeltaRule<double> &);

} // namespace recollect::variants
