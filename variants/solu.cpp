// SPDX-License-Identifier: Apache-2.0
// Attention with the softmax linear unit as its similarity (000 Eq 16; Elhage et al. 2022).
//
//   o_t = sum_{i<=t} kappa(k_i, q_t) v_i,   kappa = z exp(z / tau),   z = scale q_t . k_i
//
// The kernel is the product of the linear and the exponential kernel. Both are positive definite, so their product is.
// It has no normaliser.
// No finite state. Cost of token t: 2 t (Dk + Dv) flops and t exponentials.
#include "variants/kernels/attention/backward.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> struct Solu {
  Real scale, tau;
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION Real operator()(size_t, int, int, Real qk) const { return scale * qk * math::exp(scale * qk / tau); }
  KOKKOS_FUNCTION Real slope(size_t, int, int, Real qk, Real) const {
    const Real z = scale * qk;
    return scale * math::exp(z / tau) * (1 + z / tau);
  }
};

template <class Real> Solu<Real> kernel(const Call<Real> &call) {
  return {Real(call.params.real("scale")), Real(call.params.real_or("tau", std::sqrt(double(call.shape.Dk))))};
}
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("solu::recurrent", call, kernel(call));
}
template <class Real> void parallel(const Call<Real> &call) { attend("solu::parallel", call, kernel(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  attend_vjp("solu::backward", back, kernel(back.call));
}

} // namespace

Variant solu() {
  Variant v = attention_variant();
  v.update = "$o_t = sum_{i<=t} z exp(z / tau) v_i$, $z = scale q_t . k_i$";
  v.objective = "$-<S phi(k), v>$ with $phi(x) . phi(y) = kappa(x, y)$";
  v.source = "000 Eq 16-17";
  v.params = {real_param("scale", 1, -no_limit, no_limit, "factor on $q k^T$"),
              tuned(automatic_param("tau", "sqrt(Dk)", std::numeric_limits<double>::min(), no_limit, "temperature"),
                    {1, 0.25, 0.0625})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
