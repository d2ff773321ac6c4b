// SPDX-License-Identifier: Apache-2.0
// Mamba-2's state-space duality layer (Dao and Gu 2024, arXiv:2405.21060, scalar A; 002 §5): one data-dependent decay
// for the whole state. In the paper's names, v is the input x, k is B, q is C, alpha = exp(Delta A), and beta = Delta.
//
//   S_t = alpha_t S_{t-1} + beta_t v_t k_t^T
//   o_t = S_t q_t
//
// State: Dv x Dk. Cost per token: recurrent 5 Dv Dk; chunked (C steps per chunk) 4 Dv Dk + 2 C (Dk + Dv) flops, as
// matrix products.
#include "variants/kernels/chunked/feature_map.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "mamba2::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real write = h.beta[t] * h.v(t)[i];
        for (int j = 0; j < h.Dk; ++j) s[j] = h.alpha[t] * s[j] + write * h.k(t)[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  return {call.shape.Dk, call.q, call.k, call.alpha, {}, Real(1), {}, false, call.beta};
}
template <class Real> void chunked(const Call<Real> &call) { gated_recurrence("mamba2::chunked", call, as_sum(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  gated_recurrence_vjp("mamba2::backward", back, as_sum(back.call), {back.d.q, back.d.k, back.d.alpha, back.d.beta});
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  return {false, call.alpha, {}, call.beta};
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("mamba2::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  run_16_bits("mamba2::backward", back, stored_rule(back.call), {back.d.alpha, {}, back.d.beta});
}
#endif

} // namespace

Variant mamba2() {
  Variant v;
  v.aliases = {"ssd", "mamba_2"};
  v.family = "gated";
  v.update = "$A_t = alpha_t I$, $b_t = beta_t v_t$, $phi = identity$";
  v.objective = "$-beta <S k, v> + (1 - alpha) / 2 |S|^2$";
  v.source = "Dao and Gu 2024 (arXiv:2405.21060), scalar A; 002 §5; 003 Eq 4, 16";
  v.cost = 5 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", false, "step size $Delta$, the write's strength"},
              {"alpha", true, "decay of the whole state, $exp(Delta A)$"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
                 .packs()
#endif
                 .work(1.4 * cost::Dv * cost::Dk + 80 * cost::Dk + 8 * cost::Dv)};
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
