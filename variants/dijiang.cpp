// SPDX-License-Identifier: Apache-2.0
// DiJiang (Chen et al. 2024, arXiv:2403.19928): positive features along the directions of the discrete cosine
// transform, each scaled by one Gaussian number. These replace Performer's dense random matrix. The learned weights D
// are 1 here.
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//   phi(x)_j = exp(tau_j (C x)_j),   C the orthonormal DCT-II, tau_j ~ N(0, 1)
//
// State: (Dv + 2) x Dk: S, z, and the running maxima by which both are divided (exponential_features.hpp). Cost per
// token: recurrent 5 (Dv + 1) Dk + 4 Dk^2 flops and 3 Dk exponentials.
#include "harness/numerics/random.hpp"
#include "variants/kernels/chunked/exponential_features.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

/// [D,D] rows tau_j C_j.
std::vector<double> stretched_cosines(int D, std::uint64_t seed) {
  std::vector<double> rows;
  for (int j = 0; j < D; ++j)
    for (int i = 0; i < D; ++i)
      rows.push_back(Stream(seed, "dijiang/tau").normal(j) * std::sqrt((j ? 2.0 : 1.0) / D) *
                     std::cos(std::acos(-1.0) * j * (i + 0.5) / D));
  return rows;
}

template <class Real> Array<Real> directions(const Call<Real> &call) {
  return constants<Real>("stretched cosines", stretched_cosines(call.shape.Dk, call.params.integer("seed")));
}

template <class Real> Features<Real> log_features(const Call<Real> &call) {
  const Array<Real> rows = directions(call);
  return map_features(
      call, call.shape.Dk, KOKKOS_LAMBDA(const Real *x, int D, Real *l) {
        for (int j = 0; j < D; ++j) l[j] = dot(rows.data() + size_t(j) * D, x, D);
      });
}

template <class Real> void recurrent(const Call<Real> &call) {
  exponential_recurrent("dijiang::recurrent", call, log_features(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  exponential_chunked("dijiang::chunked", call, log_features(call));
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  const Array<Real> rows = directions(back.call);
  exponential_backward(
      "dijiang::backward", back, log_features(back.call),
      KOKKOS_LAMBDA(const Real *, int D, const Real *d_l, Real *d_x) {
        for (int i = 0; i < D; ++i) d_x[i] = 0;
        for (int j = 0; j < D; ++j)
          for (int i = 0; i < D; ++i) d_x[i] += d_l[j] * rows(size_t(j) * D + i);
      });
}

} // namespace

Variant dijiang() {
  Variant v = exponential_variant([](const Shape &s, const Params &) { return s.Dk; });
  v.update = "$A_t = I$, $b_t = v_t$, $phi(x) = exp(diag(tau) DCT(x))$, divided by $z_t . phi(q_t)$";
  v.source = "Chen et al. 2024 (arXiv:2403.19928), untrained weights";
  v.differs =
      "the published code applies a softmax to the features, uses RetNet's decay instead of the division by $z_t . "
      "phi(q_t)$, and uses the transpose of the cosine transform";
  v.cost = {5 * (cost::Dv + 1) * cost::Dk + 4 * cost::Dk * cost::Dk, 3 * cost::Dk};
  v.params = {integer_param("seed", 1, 0, 1e9, "random seed of $tau$")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(1.9 * cost::Dv * cost::Dk + 4.8 * cost::Dk * cost::Dk + 8 * cost::Dv + 1100)};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
