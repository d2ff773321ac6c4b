// SPDX-License-Identifier: Apache-2.0
// Hedgehog (Zhang et al. 2024, arXiv:2402.04347): exponential features of both signs, with its learned projection
// at its initial value, the identity. The kernel is phi(q) . phi(k) = 2 sum_j cosh(q_j + k_j): peaked, positive,
// growing with q . k.
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   phi(x) = (exp(x), exp(-x))
//   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//
// State: (Dv + 1) x 2 Dk, S over z. Cost a token: recurrent 8 (Dv + 1) Dk flops and 4 Dk exponentials.
#include "variants/kernels/feature_map.hpp"

namespace recollect::variants {
namespace {

template <class Real> Features<Real> features(const Call<Real> &call) {
  return map_features(
      call, 2 * call.shape.Dk, KOKKOS_LAMBDA(const Real *x, int D, Real *phi) {
        for (int j = 0; j < D; ++j) {
          phi[j] = math::exp(x[j]);
          phi[D + j] = math::exp(-x[j]);
        }
      });
}

template <class Real> void recurrent(const Call<Real> &call) {
  feature_recurrent("hedgehog::recurrent", call, features(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  feature_chunked("hedgehog::chunked", call, features(call));
}

} // namespace

Variant hedgehog() {
  Variant v = feature_variant([](const Shape &s, const Params &) { return 2 * s.Dk; });
  v.update = "A_t = I, b_t = v_t, phi(x) = (exp(x), exp(-x)), divided by z_t . phi(q_t)";
  v.source = "Zhang et al. 2024 (arXiv:2402.04347), untrained";
  v.cost = "8 (Dv + 1) Dk flops, 4 Dk exponentials";
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>}, {"chunked", chunked<float>, chunked<double>}};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
