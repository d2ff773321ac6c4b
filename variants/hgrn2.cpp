// SPDX-License-Identifier: Apache-2.0
// HGRN2 (Qin et al. 2024, arXiv:2404.07904): the key is the complement of the forget gate, so that a channel writes
// exactly as strongly as it forgets. In the paper's names, v is the input i, and q the output gate.
//
//   S_t = S_{t-1} diag(f_t) + v_t (1 - f_t)^T,   f_t = lower + (1 - lower) lambda_t sigmoid(-k_t)
//   o_t = S_t q_t
//
// The key k is the pre-activation of the write; for k far below 0, f = lower + (1 - lower) lambda. The parameter
// `lower` is the lower bound of f. State: Dv x Dk. Column j is a running mean of the values, with the decay f_j. Cost
// per token: recurrent 5 Dv Dk flops; chunked as gated_linear.
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/common/forget_gate.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const ForgetGates<Real> f = forget_gates(call);
  recurrent_rows(
      "hgrn2::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t at = (h.index * h.T + t) * h.Dk;
        for (int j = 0; j < h.Dk; ++j) s[j] = f.keep(at + j) * s[j] + f.write(at + j) * h.v(t)[i];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  const ForgetGates<Real> f = forget_gates(call);
  gated_recurrence("hgrn2::chunked", call, {call.shape.Dk, call.q, f.write, {}, f.keep});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const ForgetGates<Real> f = forget_gates(back.call),
                          d{allocate(back.call, f.keep.extent(0)), allocate(back.call, f.keep.extent(0))};
  GatedRecurrenceGradient<Real> to{back.d.q, d.write};
  to.lambda = d.keep;
  gated_recurrence_vjp("hgrn2::backward", back, {back.call.shape.Dk, back.call.q, f.write, {}, f.keep}, to);
  forget_gates_vjp(back, d);
}

} // namespace

Variant hgrn2() {
  Variant v;
  v.family = "gated";
  v.update = "$A_t = diag(f_t)$, $b_t = v_t$ with key $1 - f_t$, $phi = identity$";
  v.source = "Qin et al. 2024 (arXiv:2404.07904); 003 Eq 16";
  v.cost = {5 * cost::Dv * cost::Dk + 16 * cost::Dk, 3 * cost::Dk};
  v.params = forget_gate_params();
  v.inputs = forget_gate_inputs();
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(4.1 * cost::Dv * cost::Dk + 49 * cost::Dk + 360)};
  return v;
}

} // namespace recollect::variants
