// SPDX-License-Identifier: Apache-2.0
// Stick-breaking attention: each key, the newest first, takes a share of what newer keys leave (Tan et al. 2024,
// arXiv:2410.17980; the formula follows fla's fla/ops/stickbreaking_attn/naive.py).
//
//   o_t = sum_{i<t} s_i prod_{j=i+1..t-1} (1 - s_j) v_i,   s_i = sigmoid(z_i),   z_i = scale (q_t . k_i - threshold)
//
// The recurrent form computes o_t as a moving average over the keys, the oldest first. No finite state. Cost of token
// t: t (2 Dk + 3 Dv) flops and t exponentials.
#include "variants/kernels/attention/stick_breaking.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> SticksOneByOne<Real> layer(const Call<Real> &call) {
  return {Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk)))), Real(call.params.real("threshold")),
          call.params.text("current") == "seen"};
}
template <class Real> void recurrent(const Call<Real> &call) {
  each_head("stick_breaking::recurrent", call, call.shape.T, layer(call));
}
template <class Real> void chunked(const Call<Real> &call) {
  each_head("stick_breaking::chunked", call, size_t(call.chunk) * call.shape.T, SticksByChunks<Real>{layer(call)});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call, &d = back.d;
  each_head("stick_breaking::backward", call, 2 * size_t(call.chunk) * call.shape.T,
            SticksByChunks<Real>{layer(call), d.o, d.q, d.k, d.v});
}

} // namespace

Variant stick_breaking() {
  Variant v = attention_variant();
  v.aliases = {"stickbreaking", "stickbreaking_attn"};
  v.update = "$o_t = sum_{i<t} s_i prod_{j=i+1..t-1} (1 - s_j) v_i$, $s_i = sigmoid(scale (q_t . k_i - threshold))$";
  v.source = "Tan et al. 2024 (arXiv:2410.17980), as in fla's fla/ops/stickbreaking_attn/naive.py";
  v.differs = "the threshold, 0 in the source; the weight that no key takes is dropped";
  v.cost = {cost::t * (2 * cost::Dk + 3 * cost::Dv), cost::t};
  v.params = {tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on the logits"), {4, 16, 64}),
              tuned(real_param("threshold", 0, -no_limit, no_limit,
                               "similarity at which a key takes half of the remaining weight"),
                    {0.5}),
              choice_param("current", {"unseen", "seen"}, "whether a query sees the key of its own step")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = false;
  return v;
}

} // namespace recollect::variants
