// SPDX-License-Identifier: Apache-2.0
// The linear recurrent unit (Orvieto et al. 2023, arXiv:2303.06349) as a memory. Each channel has a fixed complex decay
// a_j = nu_j e^{i theta_j}, drawn uniformly on a ring, and writes are scaled so that the variance of the state is
// constant. The vectors k_t and q_t are the unit's input and output matrices B and C, which the paper keeps fixed over
// time.
//
//   S_t = S_{t-1} diag(a) + v_t (g k_t)^T,   g_j = sqrt(1 - nu_j^2)
//   o_t = Re(S_t q_t)
//
// nu_j^2 ~ U(r_min^2, r_max^2), theta_j ~ U(0, phase). State: Dv x 2 Dk, [real | imaginary] parts. Cost per token:
// recurrent 11 Dv Dk flops; chunked as gateloop.
#include "harness/numerics/random.hpp"
#include "variants/kernels/chunked/rotation_backward.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/rows.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> struct Ring {
  Array<Real> modulus, phase, re, im, gain; // [Dk] each: nu, theta, Re a, Im a and g
};

template <class Real> Ring<Real> ring(const Call<Real> &call) {
  const int D = call.shape.Dk, seed = call.params.integer("seed");
  const double low = call.params.real("r_min"), high = call.params.real("r_max");
  const std::vector<double> squares = Stream(seed, "lru/squares").uniforms(D, low * low, high * high);
  const std::vector<double> phase = Stream(seed, "lru/phase").uniforms(D, 0, call.params.real("phase"));
  std::vector<double> modulus, re, im, gain;
  for (int j = 0; j < D; ++j) {
    modulus.push_back(std::sqrt(squares[j]));
    re.push_back(modulus[j] * std::cos(phase[j]));
    im.push_back(modulus[j] * std::sin(phase[j]));
    gain.push_back(std::sqrt(1 - squares[j]));
  }
  return {constants<Real>("modulus", modulus), constants<Real>("phase", phase), constants<Real>("re", re),
          constants<Real>("im", im), constants<Real>("gain", gain)};
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Ring<Real> a = ring(call);
  recurrent_rows(
      "lru::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        Real read = 0;
        for (int j = 0; j < h.Dk; ++j) {
          const Complex<Real> decay{a.re(j), a.im(j)};
          read += h.q(t)[j] * rotate_and_write(s, j, h.Dk, decay, h.v(t)[i] * a.gain(j) * h.k(t)[j]);
        }
        return read;
      });
}

/// g k_t
template <class Real> Array<Real> written(const Call<Real> &call, const Ring<Real> &a) {
  const int D = call.shape.Dk;
  return map_rows(
      "written", call, call.k, D, D, KOKKOS_LAMBDA(const Real *k, int n, Real *out) {
        for (int j = 0; j < n; ++j) out[j] = a.gain(j) * k[j];
      });
}
/// nu at every step, for the real and the imaginary part of every channel.
template <class Real> Array<Real> decays(const Call<Real> &call, const Ring<Real> &a) {
  const int D = call.shape.Dk;
  return map_rows(
      "decays", call, call.k, D, 2 * D, KOKKOS_LAMBDA(const Real *, int n, Real *out) {
        for (int j = 0; j < n; ++j) out[j] = out[n + j] = a.modulus(j);
      });
}
template <class Real> struct Phase {
  Array<Real> phase;
  KOKKOS_FUNCTION Real operator()(size_t, int j) const { return phase(j); }
};

template <class Real> void chunked(const Call<Real> &call) {
  const int D = call.shape.Dk;
  const Ring<Real> a = ring(call);
  const Turned<Real> turned = turn_back(call, Features<Real>{D, call.q, written(call, a)}, Phase<Real>{a.phase});
  gated_recurrence("lru::chunked", call, {2 * D, turned.features.q, turned.features.k, {}, decays(call, a)});
  turn_state(call, turned);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const int D = call.shape.Dk;
  const Ring<Real> a = ring(call);
  GatedRecurrence<Real> sum{};
  sum.lambda = decays(call, a);
  const Array<Real> d_k = back.d.k, gain = a.gain;
  turned_vjp("lru::backward", back, Features<Real>{D, call.q, written(call, a)}, Phase<Real>{a.phase}, sum, {},
             {D, back.d.q, d_k});
  parallel_loop(
      "lru::gain", d_k.extent(0), KOKKOS_LAMBDA(const size_t i) { d_k(i) *= gain(i % D); });
}

} // namespace

Variant lru() {
  Variant v;
  v.family = "gated";
  v.update =
      "$A_t = diag(nu e^{i theta})$, $b_t = v_t$ with keys scaled by $sqrt(1 - nu^2)$, $phi = identity$, real part";
  v.source = "Orvieto et al. 2023 (arXiv:2303.06349); 003 Eq 16";
  v.cost = 11 * cost::Dv * cost::Dk;
  v.params = {real_param("r_min", 0.9, 0, 1, "smallest modulus of the ring"),
              real_param("r_max", 0.999, 0, 1, "largest modulus"),
              real_param("phase", 0.314, 0, 6.2832, "largest phase, radians"),
              integer_param("seed", 1, 0, 1e9, "random seed of the ring")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(2.6 * cost::Dv * cost::Dk + 150 * cost::Dk + 35 * cost::Dv)};
  v.layout = "real part of S [Dv,Dk] next to its imaginary part [Dv,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv, 2 * s.Dk}; };
  return v;
}

} // namespace recollect::variants
