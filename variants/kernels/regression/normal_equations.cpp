// SPDX-License-Identifier: Apache-2.0
// Instances with and without decays, compiled in this file for all layers.
#include "variants/kernels/regression/normal_equations_algebra.hpp"
#include "variants/kernels/regression/prefix_regression_cuda.hpp"

namespace recollect::variants {

template <class Real> void normal_equations_chunked(const std::string &label, const Call<Real> &call, bool decays) {
  const Real ridge = Real(call.params.real("ridge"));
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same<Real, float>::value)
    if (PrefixRegressionInWarps::supports(call))
      return prefix_regression<PrefixRegressionInWarps>(label, call, ridge, decays, call.state);
#endif
  prefix_regression<ByFactorisation<Real>>(label, call, ridge, decays, call.state);
}
template <class Real> void conjugate_gradients(const std::string &label, const Call<Real> &call, bool decays) {
  prefix_regression<ByConjugateGradients<Real>>(label, call, Real(call.params.real("ridge")), decays, call.state);
}

template void normal_equations_chunked(const std::string &, const Call<float> &, bool);
template void normal_equations_chunked(const std::string &, const Call<double> &, bool);
template void conjugate_gradients(const std::string &, const Call<float> &, bool);
template void conjugate_gradients(const std::string &, const Call<double> &, bool);

} // namespace recollect::variants
