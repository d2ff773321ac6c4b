// SPDX-License-Identifier: Apache-2.0
// DeltaNet with momentum on the write (000 Table 2 and Appendix B.2, Eq 75-76).
//
//   C_t = eta_t C_{t-1} + v_t k_t^T,   eta_t = eta alpha_t
//   S_t = S_{t-1} (I - k_t k_t^T) + C_t
//   o_t = S_t q_t
//
// State: 2 Dv x Dk, S above C. Cost per token: recurrent 10 Dv Dk; chunked (C steps per chunk) 12 Dv Dk + C (4 Dk + 7
// Dv) flops, as matrix products.
#include "variants/kernels/chunked/momentum_backward.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real eta = call.params.real("eta");
  recurrent_rows(
      "delta_momentum::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        Real *c = s + size_t(h.Dv) * h.Dk;
        const Real *k = h.k(t), v = h.v(t)[i], kept = eta * h.alpha[t], old = dot(s, k, h.Dk);
        for (int j = 0; j < h.Dk; ++j) {
          c[j] = kept * c[j] + v * k[j];
          s[j] += c[j] - old * k[j];
        }
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  run_chunks("delta_momentum::chunked", call, MomentumAlgebra<Real>{HeadArrays<Real>(call), momentum(call)});
}

template <class Real> void backward(const BackwardCall<Real> &back) { momentum_vjp("delta_momentum::backward", back); }

} // namespace

Variant delta_momentum() {
  Variant v;
  v.family = "delta rule";
  v.update =
      "$A_t = I - k_t k_t^T$, $b_t k_t^T -> C_t = eta_t C_{t-1} + v_t k_t^T$, $eta_t = eta alpha_t$, $phi = identity$";
  v.objective = "$|S k_t|^2 / 2 - sum_i eta_{i+1} ... eta_t <S k_i, v_i>$, one gradient step of size 1";
  v.source = "000 Table 2, Eq 75-76";
  v.cost = 10 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("eta", 0.9, 0, 1, "momentum: how much of the last write is written again"), {0, 0.5})};
  v.inputs = {{"alpha", false, "factor on $eta$ at every step"}};
  v.layout = "S [Dv,Dk], C [Dv,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{2 * s.Dv, s.Dk}; };
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(5.4 * cost::Dv * cost::Dk + 240 * cost::Dk)};
  return v;
}

} // namespace recollect::variants
