// SPDX-License-Identifier: Apache-2.0
// Linear attention with phi(x) = elu(x) + 1 > 0 (Katharopoulos et al. 2020, arXiv:2006.16236, Eq 7; 002 §2; 003 after
// Eq 3).
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t)
//   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//
// State: (Dv + 1) x Dk: S above z. Cost per token: recurrent 4 (Dv + 1) Dk flops; chunked as linear.
#include "variants/kernels/chunked/feature_map.hpp"

namespace recollect::variants {
namespace {

template <class Real> Features<Real> features(const Call<Real> &call) {
  return map_features(
      call, call.shape.Dk, KOKKOS_LAMBDA(Real x) { return x > 0 ? x + 1 : math::exp(x); });
}

template <class Real> void recurrent(const Call<Real> &call) {
  feature_recurrent("linear_elu::recurrent", call, features(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  feature_chunked("linear_elu::chunked", call, features(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  feature_backward(
      "linear_elu::backward", back, features(back.call),
      KOKKOS_LAMBDA(Real x, Real d_phi) { return d_phi * (x > 0 ? Real(1) : math::exp(x)); });
}

} // namespace

Variant linear_elu() {
  Variant v = feature_variant([](const Shape &s, const Params &) { return s.Dk; });
  v.update = "$A_t = I$, $b_t = v_t$, $phi = elu + 1$, divided by $z_t . phi(q_t)$";
  v.source = "Katharopoulos et al. 2020 (arXiv:2006.16236) Eq 7; 002 §2; 003 Eq 3";
  v.cost = {4 * (cost::Dv + 1) * cost::Dk, cost::Dk};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(1.45 * cost::Dv * cost::Dk + 52 * cost::Dk + 11 * cost::Dv)};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
