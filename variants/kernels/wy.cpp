// SPDX-License-Identifier: Apache-2.0
// Compiled here once, for all layers of the family.
#include "variants/kernels/wy_cuda.hpp"

namespace recollect::variants {

template <class Real> void delta_rule(const std::string &label, const Call<Real> &call, const DeltaRule<Real> &in) {
  const WyAlgebra<Real> rule = wy_algebra(call, in);
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same<Real, float>::value)
    if (WyInWarps::suits(call, rule)) return run_chunks(label, call, WyInWarps{rule, {}});
#endif
  run_chunks(label, call, rule);
}

template void delta_rule(const std::string &, const Call<float> &, const DeltaRule<float> &);
template void delta_rule(const std::string &, const Call<double> &, const DeltaRule<double> &);

} // namespace recollect::variants
