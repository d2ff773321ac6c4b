// SPDX-License-Identifier: Apache-2.0
// Hedgehog (Zhang et al. 2024, arXiv:2402.04347): the features exp(x) and exp(-x). The learned projection of the source
// is the identity here, its initial value. The kernel is phi(q) . phi(k) = 2 sum_j cosh(q_j + k_j): peaked, positive,
// growing with q . k.
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   phi(x) = (exp(x), exp(-x))
//   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//
// State: (Dv + 2) x 2 Dk: S, z, and the running maxima by which both are divided (exponential_features.hpp). Cost per
// token: recurrent 10 (Dv + 1) Dk flops and 6 Dk exponentials.
#include "variants/kernels/chunked/exponential_features.hpp"

namespace recollect::variants {
namespace {

template <class Real> Features<Real> log_features(const Call<Real> &call) {
  return map_features(
      call, 2 * call.shape.Dk, KOKKOS_LAMBDA(const Real *x, int D, Real *l) {
        for (int j = 0; j < D; ++j) l[j] = x[j], l[D + j] = -x[j];
      });
}

template <class Real> void recurrent(const Call<Real> &call) {
  exponential_recurrent("hedgehog::recurrent", call, log_features(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  exponential_chunked("hedgehog::chunked", call, log_features(call));
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  exponential_backward(
      "hedgehog::backward", back, log_features(back.call),
      KOKKOS_LAMBDA(const Real *, int D, const Real *d_l, Real *d_x) {
        for (int j = 0; j < D; ++j) d_x[j] = d_l[j] - d_l[D + j];
      });
}

} // namespace

Variant hedgehog() {
  Variant v = exponential_variant([](const Shape &s, const Params &) { return 2 * s.Dk; });
  v.update = "$A_t = I$, $b_t = v_t$, $phi(x) = (exp(x), exp(-x))$, divided by $z_t . phi(q_t)$";
  v.source = "Zhang et al. 2024 (arXiv:2402.04347), untrained";
  v.differs = "the learned projection is the identity";
  v.cost = {10 * (cost::Dv + 1) * cost::Dk, 6 * cost::Dk};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(6.6 * cost::Dv * cost::Dk + 42 * cost::Dk + 12 * cost::Dv + 700)};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
