// SPDX-License-Identifier: Apache-2.0
// RetNet's retention (Sun et al. 2023, arXiv:2307.08621): one fixed decay. The paper also rotates q and k by their
// position (xPos). This is a fixed map of the inputs and is left to the caller.
//
//   S_t = gamma S_{t-1} + v_t k_t^T
//   o_t = S_t (scale q_t)
//
// The paper gives head h the decay 1 - 2^{-5-h}. Here all heads share gamma, by default the paper's first decay, 31/32,
// because the harness treats heads as interchangeable. For a gamma per head, use gated_linear with alpha_t = gamma_h.
// State: Dv x Dk. Cost per token: recurrent 5 Dv Dk; chunked 4 Dv Dk + 2 C (Dk + Dv) flops, as matrix products.
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real scale = call.params.real("scale"), gamma = call.params.real("gamma");
  recurrent_rows(
      "retnet::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        for (int j = 0; j < h.Dk; ++j) s[j] = gamma * s[j] + h.v(t)[i] * h.k(t)[j];
        return scale * dot(s, h.q(t), h.Dk);
      });
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  const Array<Real> gamma = filled(call, call.steps(), Real(call.params.real("gamma")));
  return {call.shape.Dk, call.q, call.k, gamma, {}, Real(call.params.real("scale"))};
}
template <class Real> void chunked(const Call<Real> &call) { gated_recurrence("retnet::chunked", call, as_sum(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  gated_recurrence_vjp("retnet::backward", back, as_sum(back.call), {back.d.q, back.d.k});
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  StoredRule rule;
  rule.alpha = call.arena->template take<float>(call.steps());
  fill(rule.alpha, float(call.params.real("gamma")));
  rule.scale = float(call.params.real("scale"));
  return rule;
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("retnet::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  run_16_bits("retnet::backward", back, stored_rule(back.call), {});
}
#endif

} // namespace

Variant retnet() {
  Variant v;
  v.aliases = {"retention"};
  v.family = "gated";
  v.update = "$A_t = gamma I$, $b_t = v_t$, $phi = identity$";
  v.objective = "$-<S k, v> + (1 - gamma) / 2 |S|^2$";
  v.source = "Sun et al. 2023 (arXiv:2307.08621), without xPos; 003 Eq 4, 16";
  v.differs =
      "one $gamma$ for all heads; for the paper's $1 - 2^{-5-h}$ in head $h$, use gated_linear with that $alpha$";
  v.cost = 5 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("gamma", 0.96875, 0, 1, "decay of the whole state"), {1, 0.99, 0.9}),
              real_param("scale", 1, -no_limit, no_limit, "factor on $q k^T$")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
                 .packs()
#endif
                 .work(1.5 * cost::Dv * cost::Dk + 75 * cost::Dk + 7 * cost::Dv)};
  return v;
}

} // namespace recollect::variants
