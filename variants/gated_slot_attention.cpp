// SPDX-License-Identifier: Apache-2.0
// Gated slot attention (Zhang et al. 2024, arXiv:2409.07146; fla's fla/ops/gsa/naive.py): softmax attention to a fixed
// number of slots, each of which keeps a decayed sum of keys and a decayed sum of values.
//
//   K_t[m] = lambda_t[m] K_{t-1}[m] + w_t[m] k_t,   V_t[m] = lambda_t[m] V_{t-1}[m] + w_t[m] v_t
//   o_t = sum_m p_t[m] V_t[m],   p_t = softmax_m(scale K_t q_t)
//
// If w is absent, it is 1 - lambda, as in the paper. Slot m is channel m of lambda and w, so there are Dk slots; this
// is also the default of fla's layer. State: (Dv + Dk) x Dk: V transposed, then K. Cost per token: 5 Dk (Dk + Dv)
// flops, Dk exponentials.
#include "variants/kernels/scan/slots.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  slots_recurrent("gated_slot_attention::recurrent", call);
}

template <class Real> void chunked(const Call<Real> &call) { slots_chunked("gated_slot_attention::chunked", call); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  slots_vjp("gated_slot_attention::backward", back);
}

} // namespace

Variant gated_slot_attention() {
  Variant v;
  v.aliases = {"gsa"};
  v.family = "gated";
  v.update = "$K_t = diag(lambda_t) K_{t-1} + w_t k_t^T$, $V_t = diag(lambda_t) V_{t-1} + w_t v_t^T$, "
             "$o_t = V_t^T softmax(scale K_t q_t)$";
  v.source = "Zhang et al. 2024 (arXiv:2409.07146)";
  v.differs = "as many slots as key channels; no feature maps of $q$, $k$ and $v$, and no norm of the output";
  v.cost = {5 * cost::Dk * (cost::Dk + cost::Dv), cost::Dk};
  v.params = {tuned(real_param("scale", 1, -no_limit, no_limit, "factor on the slots' logits"), {4, 16})};
  v.inputs = {{"lambda", true, "decay of each slot's key and value"},
              {"w", false, "factor on the step's key and value in each slot", "1 - lambda"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.layout = "V transposed [Dv,Dk] (one column per slot), K [Dk,Dk] (one row per slot)";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv + s.Dk, s.Dk}; };
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
