// SPDX-License-Identifier: Apache-2.0
// Random feature attention (Peng et al. 2021, arXiv:2103.02143, after Rahimi and Recht): trigonometric features of the
// exponential kernel, unbiased, E[phi(q) . phi(k)] = exp(scale q . k).
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//   phi(x) = exp(|y|^2 / 2) (sin(Omega y), cos(Omega y)) / sqrt(features),   y = sqrt(scale) x, rows of Omega ~ N(0, I)
//
// The paper drops the factor exp(|y|^2 / 2) by scaling keys to norm 1. Unlike in Performer, the weight of a pair may be
// negative, so the divisor can be near 0. State: (Dv + 1) x 2 features: S, then z. Cost per token: (4 Dk + 8 Dv)
// features flops.
#include "harness/numerics/random.hpp"
#include "variants/kernels/chunked/feature_map.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {
namespace {

template <class Real> Array<Real> frequencies(const Call<Real> &call) {
  const size_t n = size_t(call.params.integer("features")) * call.shape.Dk;
  return constants<Real>("omega", Stream(call.params.integer("seed"), "random_feature/omega").normals(n));
}

template <class Real> Features<Real> features(const Call<Real> &call) {
  const int n = call.params.integer("features");
  const Real scale = call.params.real("scale"), root = math::sqrt(scale), weight = 1 / math::sqrt(Real(n));
  const Array<Real> omega = frequencies(call);
  return map_features(
      call, 2 * n, KOKKOS_LAMBDA(const Real *x, int D, Real *phi) {
        const Real length = weight * math::exp(scale * dot(x, x, D) / 2);
        for (int i = 0; i < n; ++i) {
          const Real angle = root * dot(omega.data() + size_t(i) * D, x, D);
          phi[i] = length * math::sin(angle);
          phi[n + i] = length * math::cos(angle);
        }
      });
}

template <class Real> void recurrent(const Call<Real> &call) {
  feature_recurrent("random_feature::recurrent", call, features(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  feature_chunked("random_feature::chunked", call, features(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const int n = back.call.params.integer("features");
  const Real scale = back.call.params.real("scale"), root = math::sqrt(scale), weight = 1 / math::sqrt(Real(n));
  const Array<Real> omega = frequencies(back.call);
  feature_backward(
      "random_feature::backward", back, features(back.call),
      KOKKOS_LAMBDA(const Real *x, int D, const Real *d_phi, Real *d_x) {
        const Real length = weight * math::exp(scale * dot(x, x, D) / 2);
        Real along = 0; // d_phi . phi, because log |phi| has the gradient scale x
        for (int j = 0; j < D; ++j) d_x[j] = 0;
        for (int i = 0; i < n; ++i) {
          const Real *w = omega.data() + size_t(i) * D, angle = root * dot(w, x, D), s = length * math::sin(angle),
                     c = length * math::cos(angle), turn = root * (d_phi[i] * c - d_phi[n + i] * s);
          along += d_phi[i] * s + d_phi[n + i] * c;
          for (int j = 0; j < D; ++j) d_x[j] += turn * w[j];
        }
        for (int j = 0; j < D; ++j) d_x[j] += scale * along * x[j];
      });
}

} // namespace

Variant random_feature() {
  Variant v = feature_variant([](const Shape &, const Params &p) { return 2 * p.integer("features"); });
  v.update =
      "$A_t = I$, $b_t = v_t$, $phi$ = random Fourier features of $exp(scale q . k)$, divided by $z_t . phi(q_t)$";
  v.source = "Peng et al. 2021 (arXiv:2103.02143), RFA";
  v.cost = {(4 * cost::Dk + 8 * cost::Dv) * cost::parameter("features"), 4 * cost::parameter("features")};
  v.params = {integer_param("features", 64, 1, 65536, "random frequencies"),
              integer_param("seed", 1, 0, 1e9, "random seed of the frequencies"),
              tuned(real_param("scale", 1, 0, no_limit, "factor in the kernel $exp(scale q . k)$"), {4, 16})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(cost::parameter("features") * (4.2 * cost::Dk + 7 * cost::Dv + 34))};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
