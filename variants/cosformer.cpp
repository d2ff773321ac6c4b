// SPDX-License-Identifier: Apache-2.0
// cosFormer (Qin et al. 2022, arXiv:2202.08791): relu features, and pairs weighted by cos(pi (t - i) / (2 length)),
// which falls from 1 to 0 over `length` steps. The state is rotated by theta = pi / (2 length) per step, so the layer
// does not need to know t:
//
//   S_t = e^{i theta} S_{t-1} + v_t relu(k_t)^T,   z_t = e^{i theta} z_{t-1} + relu(k_t)
//   o_t = Re(S_t relu(q_t)) / Re(z_t . relu(q_t))
//
// Beyond `length` steps the weights would turn negative. State: (Dv + 1) x 2 Dk: S above z, each as [real | imaginary]
// parts. Cost per token: recurrent 10 (Dv + 1) Dk flops; chunked as linear with 2 Dk features.
#include "variants/kernels/chunked/rotation_backward.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

/// ReLU. Its derivative at 0 is 0, in every form.
template <class Real> KOKKOS_FUNCTION Real relu(Real x) { return x > 0 ? x : Real(0); }

template <class Real> Features<Real> features(const Call<Real> &call) {
  return map_features(
      call, call.shape.Dk, KOKKOS_LAMBDA(Real x) { return relu(x); });
}

template <class Real> Real theta(const Call<Real> &call) { return std::acos(-1.0) / (2 * call.params.real("length")); }

template <class Real> void recurrent(const Call<Real> &call) {
  const Complex<Real> turn = unit_phase(theta(call));
  normalised_rows(
      "cosformer::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, Real v, Real *s)->Real {
        Real read = 0;
        for (int j = 0; j < h.Dk; ++j)
          read += relu(h.q(t)[j]) * rotate_and_write(s, j, h.Dk, turn, v * relu(h.k(t)[j]));
        return read;
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  const Real angle = theta(call);
  const Turned<Real> turned = turn_back(
      call, features(call), KOKKOS_LAMBDA(size_t, int) { return angle; });
  gated_recurrence("cosformer::chunked", call,
                   {turned.features.width, turned.features.q, turned.features.k, {}, {}, Real(1), {}, true});
  turn_state(call, turned);
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  const Real angle = theta(back.call);
  const Array<Real> q = back.call.q, k = back.call.k, d_q = back.d.q, d_k = back.d.k;
  GatedRecurrence<Real> sum{};
  sum.normalised = true;
  turned_vjp("cosformer::backward", back, features(back.call), KOKKOS_LAMBDA(size_t, int) { return angle; }, sum, {},
             {back.call.shape.Dk, d_q, d_k});
  parallel_loop(
      "cosformer::relu", q.extent(0), KOKKOS_LAMBDA(const size_t i) {
        if (!(q(i) > 0)) d_q(i) = 0;
        if (!(k(i) > 0)) d_k(i) = 0;
      });
}

} // namespace

Variant cosformer() {
  Variant v = feature_variant([](const Shape &s, const Params &) { return 2 * s.Dk; });
  v.update =
      "$A_t = e^{i theta}$, $b_t = v_t$, $phi = relu$, $theta = pi / (2 length)$, divided by $Re(z_t . phi(q_t))$";
  v.source = "Qin et al. 2022 (arXiv:2202.08791), cos-based re-weighting";
  v.cost = 10 * (cost::Dv + 1) * cost::Dk;
  v.params = {real_param("length", 4096, 1, no_limit,
                         "number of steps over which a pair's weight falls to 0, at least T (the paper's M)")};
  v.unsuitable = [](const Shape &s, const Params &p) {
    return s.T <= p.real("length") ? ""
                                   : "T is " + std::to_string(s.T) +
                                         ", more than the parameter length; give --set length=" + std::to_string(s.T);
  };
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = false;
  return v;
}

} // namespace recollect::variants
