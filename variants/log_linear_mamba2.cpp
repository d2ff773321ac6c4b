// SPDX-License-Identifier: Apache-2.0
// Log-linear Mamba-2 (Guo et al. 2025, arXiv:2506.04761; fla's fla/ops/log_linear_attn/naive.py): mamba2 with a state
// for every level l of a Fenwick tree over the past, each read with a separate weight.
//
//   S_t^0 = beta_t v_t k_t^T,   S_t^l = alpha_t S_{t-1}^l        (steps of level l: levels.hpp)
//   o_t = sum_l w_t^l S_t^l q_t
//
// If all weights are 1, the layer is mamba2. State: at most log2(T) + 2 matrices Dv x Dk; this grows with T, so the
// descriptor has no finite state. Cost of token t: at least 5 Dv Dk flops, as for mamba2, and about 3/2 Dv Dk log2(t)
// for the other levels; the chunked form runs one mamba2 per level.
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/levels.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct Decay {
  KOKKOS_FUNCTION void operator()(const Head<Real> &h, int t, Real *s) const {
    for (int j = 0; j < h.Dk; ++j) s[j] *= h.alpha[t];
  }
};
template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_levels("log_linear_mamba2::recurrent", call, Decay<Real>());
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  return {call.shape.Dk, call.q, call.k, call.alpha, {}, Real(1), {}, false, call.beta};
}
template <class Real> void chunked(const Call<Real> &call) {
  by_levels(call, [](const Call<Real> &one) { gated_recurrence("log_linear_mamba2::chunked", one, as_sum(one)); });
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  by_levels_vjp(back, [](const BackwardCall<Real> &one) {
    gated_recurrence_vjp("log_linear_mamba2::backward", one, as_sum(one.call),
                         {one.d.q, one.d.k, one.d.alpha, one.d.beta});
  });
}

} // namespace

Variant log_linear_mamba2() {
  Variant v = levels_variant();
  v.aliases = {"log_linear_attention", "log_linear_attn"};
  v.update = "$S_t^0 = beta_t v_t k_t^T$, $S_t^l = alpha_t S_{t-1}^l$, levels merged as a Fenwick tree, $o_t = sum_l "
             "w_t^l S_t^l q_t$";
  v.source = "Guo et al. 2025 (arXiv:2506.04761), Mamba-2 variant";
  v.cost = cost::at_least(5 * cost::Dv * cost::Dk);
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
