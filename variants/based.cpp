// SPDX-License-Identifier: Apache-2.0
// Based's linear attention (Arora et al. 2024, arXiv:2402.18668): the exponential kernel's Taylor series to
// second order,
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//   phi(q) . phi(k) = 1 + s + s^2 / 2 = ((1 + s)^2 + 1) / 2 > 0,   s = scale q . k
//
// State: (Dv + 1) x F: S above z, with F = 1 + Dk + Dk (Dk + 1) / 2. Cost per token: recurrent 4 (Dv + 1) F flops.
#include "variants/kernels/chunked/feature_map.hpp"
#include "variants/kernels/common/quadratic.hpp"

namespace recollect::variants {
namespace {

int width(int D) { return 1 + D + quadratic_features(D); }

template <class Real> Features<Real> features(const Call<Real> &call) {
  const Real scale = call.params.real("scale"), root = math::sqrt(scale);
  return map_features(
      call, width(call.shape.Dk), KOKKOS_LAMBDA(const Real *x, int D, Real *phi) {
        phi[0] = 1;
        for (int j = 0; j < D; ++j) phi[1 + j] = root * x[j];
        quadratic(x, D, scale / math::sqrt(Real(2)), phi + 1 + D);
      });
}

template <class Real> void recurrent(const Call<Real> &call) {
  feature_recurrent("based::recurrent", call, features(call));
}
template <class Real> void chunked(const Call<Real> &call) { feature_chunked("based::chunked", call, features(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Real scale = back.call.params.real("scale"), root = math::sqrt(scale);
  feature_backward(
      "based::backward", back, features(back.call), KOKKOS_LAMBDA(const Real *x, int D, const Real *d_phi, Real *d_x) {
        for (int j = 0; j < D; ++j) d_x[j] = root * d_phi[1 + j];
        add_quadratic_pull(x, D, scale / math::sqrt(Real(2)), d_phi + 1 + D, d_x);
      });
}

} // namespace

Variant based() {
  Variant v = feature_variant([](const Shape &s, const Params &) { return width(s.Dk); });
  v.update = "$A_t = I$, $b_t = v_t$, $phi(x) = (1, x, x x^T / sqrt 2)$, divided by $z_t . phi(q_t)$";
  v.source = "Arora et al. 2024 (arXiv:2402.18668), Taylor feature map";
  v.cost = 2 * cost::Dv * cost::Dk * cost::Dk + 6 * cost::Dv * cost::Dk + 4 * cost::Dk * cost::Dk;
  v.params = {tuned(real_param("scale", 1, 0, no_limit, "factor on $q . k$; the paper's is $1/sqrt(Dk)$"), {2, 4})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(6.5 * cost::Dv * cost::Dk + 50 * cost::Dk * cost::Dk)};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
