// SPDX-License-Identifier: Apache-2.0
// ABC, attention with bounded-memory control (Peng et al. 2021, arXiv:2110.02488; fla's fla/ops/abc/naive.py): softmax
// attention to a fixed number of slots, each of which keeps weighted means of all keys and of all values.
//
//   K_t[m] = sum_i e^{w_i[m]} k_i / sum_i e^{w_i[m]},   V_t[m] = sum_i e^{w_i[m]} v_i / sum_i e^{w_i[m]}
//   o_t = sum_m p_t[m] V_t[m],   p_t = softmax_m(scale K_t q_t)
//
// Let z_t[m] = log sum_{i<=t} e^{w_i[m]}. Then the layer is gated_slot_attention: slot m keeps the share lambda_t =
// e^{z_{t-1} - z_t} of its content and adds the new key and value with the share 1 - lambda_t = e^{w_t - z_t}. Slot m
// is channel m of w, so there are Dk slots. State: (Dv + Dk + 1) x Dk: V transposed, then K, then z. Cost per token: 5
// Dk (Dk + Dv) + 6 Dk flops, 3 Dk exponentials and logarithms.
#include "variants/kernels/scan/mean_gates.hpp"
#include "variants/kernels/scan/slots.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  slots_recurrent("abc::recurrent", gated_by_means(call, true));
}
template <class Real> void chunked(const Call<Real> &call) {
  slots_chunked("abc::chunked", gated_by_means(call, true));
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  BackwardCall<Real> slots{gated_by_means(back.call, false), back.d};
  slots.d.lambda = allocate(back.call, back.call.w.extent(0)), slots.d.w = allocate(back.call, back.call.w.extent(0));
  slots_vjp("abc::backward", slots);
  mean_gates_vjp(back, slots);
}

} // namespace

Variant abc() {
  Variant v;
  v.aliases = {"bounded_memory_control"};
  v.family = "gated";
  v.update =
      "$K_t = diag(lambda_t) K_{t-1} + (1 - lambda_t) k_t^T$, $V_t$ alike, $lambda_t = e^{z_{t-1} - z_t}$, $z_t = "
      "log sum_{i<=t} e^{w_i}$, $o_t = V_t^T softmax(scale K_t q_t)$";
  v.source = "Peng et al. 2021 (arXiv:2110.02488), as in fla/ops/abc/naive.py";
  v.differs = "as many slots as key channels; the slots' logits $w$ are an input, by default the key";
  v.cost = {5 * cost::Dk * (cost::Dk + cost::Dv) + 6 * cost::Dk, 3 * cost::Dk};
  v.params = {tuned(real_param("scale", 1, -no_limit, no_limit, "factor on the slots' logits"), {4, 16})};
  v.inputs = {{"w", false, "logit of the step's weight in each slot"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.layout = "V transposed [Dv,Dk] (one column per slot), K [Dk,Dk] (one row per slot), z [1,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv + s.Dk + 1, s.Dk}; };
  v.initial_state = [](const Shape &s, const Params &) {
    std::vector<double> state(size_t(s.Dv + s.Dk + 1) * s.Dk);
    std::fill(state.end() - s.Dk, state.end(), no_weights);
    return state;
  };
  v.traits.order_invariant = true;
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
