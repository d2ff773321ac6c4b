// SPDX-License-Identifier: Apache-2.0
// DeltaNet: one gradient step of size beta on |S k - v|^2 / 2 per token (002 §4; 003 Eq 6, 29; 000 Table 2 with beta =
// 1).
//
//   S_t = S_{t-1} (I - beta_t k_t k_t^T) + beta_t v_t k_t^T
//   o_t = S_t q_t
//
// State: Dv x Dk. Cost per token: recurrent 6 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3 Dv) flops, as
// matrix products.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/elementwise.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "delta_net::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), write = h.beta[t] * (h.v(t)[i] - dot(s, k, h.Dk));
        for (int j = 0; j < h.Dk; ++j) s[j] += write * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call) {
  return {1, call.k, call.k, call.beta, call.beta, {}, {}};
}
template <class Real> void chunked(const Call<Real> &call) { delta_rule("delta_net::chunked", call, as_rule(call)); }
/// beta is both the write and the erase strength, so its gradient is the sum of both.
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Array<Real> d_erase = allocate(back.call, back.call.steps());
  delta_rule_vjp("delta_net::backward", back, as_rule(back.call), {back.d.q, back.d.k, d_erase, back.d.beta});
  add(d_erase, back.d.beta);
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  return {true, {}, call.beta, call.beta};
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("delta_net::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  const Array<float> d_erase = back.call.arena->template take<float>(back.call.steps());
  run_16_bits("delta_net::backward", back, stored_rule(back.call), {{}, d_erase, back.d.beta});
  add(d_erase, back.d.beta);
}
#endif

} // namespace

Variant delta_net() {
  Variant v = delta_variant();
  v.aliases = {"deltanet", "delta_rule"};
  v.update = "$A_t = I - beta_t k_t k_t^T$, $b_t = beta_t v_t$, $phi = identity$";
  v.objective = "$|S k - v|^2 / 2$, one gradient step of size $beta_t$";
  v.source = "002 §4; 003 Eq 6, 29; 000 Table 2; Yang et al. 2024 (arXiv:2406.06484)";
  v.cost = 6 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "step size of the write; stable where $beta |k|^2 < 2$"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
                 .packs()
#endif
                 .work(1.9 * cost::Dv * cost::Dk + 80 * cost::Dk)};
  return v;
}

} // namespace recollect::variants
