// SPDX-License-Identifier: Apache-2.0
// Deterministic parameter-free projection (Schlag et al. 2021, arXiv:2102.11174): products of two entries of r =
// relu((x, -x)) whose indices differ by `shift`, so that few keys share an active feature.
//
//   S_t = S_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = S_t phi(q_t) / (z_t . phi(q_t))
//   phi(x)_{2 Dk (shift - 1) + i} = r_i r_{(i + shift) mod 2 Dk},   i = 0 ... 2 Dk - 1, shift = 1 ... nu
//
// State: (Dv + 1) x 2 Dk nu: S above z. Cost per token: recurrent 8 (Dv + 1) Dk nu flops.
#include "variants/kernels/chunked/feature_map.hpp"

namespace recollect::variants {
namespace {

/// ReLU. Its derivative at 0 is 0, in every form.
template <class Real> KOKKOS_FUNCTION Real relu(Real x) { return x > 0 ? x : Real(0); }

template <class Real> Features<Real> features(const Call<Real> &call) {
  const int nu = call.params.integer("nu");
  return map_features(
      call, 2 * call.shape.Dk * nu, KOKKOS_LAMBDA(const Real *x, int D, Real *phi) {
        const auto r = [=](int i) { return relu(i < D ? x[i] : -x[i - D]); };
        for (int shift = 1; shift <= nu; ++shift)
          for (int i = 0; i < 2 * D; ++i) *phi++ = r(i) * r((i + shift) % (2 * D));
      });
}

template <class Real> void recurrent(const Call<Real> &call) {
  feature_recurrent("dpfp::recurrent", call, features(call));
}
template <class Real> void chunked(const Call<Real> &call) { feature_chunked("dpfp::chunked", call, features(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  const int nu = back.call.params.integer("nu");
  feature_backward(
      "dpfp::backward", back, features(back.call), KOKKOS_LAMBDA(const Real *x, int D, const Real *d_phi, Real *d_x) {
        const auto r = [=](int i) { return relu(i < D ? x[i] : -x[i - D]); };
        const auto add = [=](int i, Real d) {
          if (r(i) > 0) d_x[i % D] += i < D ? d : -d;
        };
        for (int j = 0; j < D; ++j) d_x[j] = 0;
        for (int shift = 1; shift <= nu; ++shift)
          for (int i = 0; i < 2 * D; ++i, ++d_phi) {
            const int other = (i + shift) % (2 * D);
            add(i, *d_phi * r(other)), add(other, *d_phi * r(i));
          }
      });
}

} // namespace

Variant dpfp() {
  Variant v = feature_variant([](const Shape &s, const Params &p) { return 2 * s.Dk * p.integer("nu"); });
  v.update = "$A_t = I$, $b_t = v_t$, $phi$ = products of neighbours in $relu((x, -x))$, divided by $z_t . phi(q_t)$";
  v.source = "Schlag et al. 2021 (arXiv:2102.11174), DPFP";
  v.differs = "in float32 the products of two channels below 1e-19 underflow (in float64 below 1e-154), so "
              "such keys have weight 0";
  v.cost = 8 * (cost::Dv + 1) * cost::Dk * cost::parameter("nu");
  v.params = {integer_param("nu", 1, 1, 1024, "number of shifts; at most $2 Dk - 1$ differ")};
  v.unsuitable = [](const Shape &s, const Params &p) {
    return p.integer("nu") < 2 * s.Dk ? "" : "nu must be below 2 Dk, where the shifts begin to repeat";
  };
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(cost::parameter("nu") * (5.6 * cost::Dv * cost::Dk + 54 * cost::Dk) + 130)};
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
