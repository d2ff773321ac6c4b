// SPDX-License-Identifier: Apache-2.0
// A mixture of ReLU experts as a sparse associative memory (000 Eq 24).
//
//   e(i) = i / block,   s_e(q) = q . mean_{i in e} w_i
//   o_t = sum over rows i of the topk best experts of v_i max(0, k_i . q_t)
//
// Expert e consists of `block` consecutive rows of W_K and W_V; the router scores it by the mean of its rows of w (of
// k, if w is absent). An expert's gate is 1 if it is chosen, else 0, as in 000 Eq 26. If experts have equal scores, the
// earlier expert wins. With topk >= T / block, all experts are chosen, and the layer is ffn_relu. Gradients of chosen
// rows are computed; the router has no gradient. Not causal: k, v and w are weights, not context. There is no other
// state. Cost per token: parallel 2 Dk T / block + 2 topk block (Dk + Dv) flops.
#include "variants/kernels/attention/chosen_backward.hpp"
#include "variants/kernels/attention/persistent.hpp"
#include "variants/kernels/attention/similarity.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct Routed {
  int topk;
  Blocks<Real> experts;
  Array<Real> q;
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real z) const {
    const Real *query = q.data() + (head * experts.T + t) * experts.width;
    return z > 0 && experts.among_best(head, i / experts.block, query, experts.count, topk) ? z : Real(0);
  }
};

/// Computes the output of one query: finds its experts, then sums over their rows.
template <class Real> struct RunExperts {
  int Dk, Dv;
  Choice<Real> choice;
  Array<Real> q, k, v, o;

  KOKKOS_FUNCTION void operator()(size_t step) const {
    const size_t first = step / choice.blocks.T * choice.blocks.T; // the head's first step
    const Real *query = q.data() + step * Dk;
    Real *out = o.data() + step * Dv;
    choice.find(step);
    for (int c = 0; c < Dv; ++c) out[c] = 0;
    choice.each_read(step, [&](int i) {
      const Real z = dot(query, k.data() + (first + i) * Dk, Dk);
      const Real *value = v.data() + (first + i) * Dv;
      for (int c = 0; c < Dv; ++c) out[c] += (z > 0 ? z : Real(0)) * value[c];
    });
  }
};

template <class Real> Blocks<Real> experts(const Call<Real> &call) {
  return blocks_of(call.w, call.shape, call.params.integer("block"));
}

template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("ffn_moe::recurrent", call, Routed<Real>{call.params.integer("topk"), experts(call), call.q},
                    CausalMask::everything);
}
template <class Real> void parallel(const Call<Real> &call) {
  parallel_loop("ffn_moe::parallel", call.steps(),
                RunExperts<Real>{call.shape.Dk, call.shape.Dv, choice_of(call, experts(call), false), call.q, call.k,
                                 call.v, call.o});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  chosen_vjp("ffn_moe::backward", back, choice_of(call, experts(call), false), FixedKernel<Real, Kind::relu>{1, 1});
  fill(back.d.w, Real(0));
}

} // namespace

Variant ffn_moe() {
  Variant v = persistent_variant();
  v.update = "$o_t$ = sum over rows $i$ of the topk best experts of $max(0, k_i . q_t) v_i$";
  v.source = "000 Eq 24, 26";
  v.differs = "gradients go through the chosen experts; the choice is piecewise constant, so the router has gradient 0";
  v.cost = cost::at_least(2 * cost::Dk * cost::T / cost::parameter("block") +
                          2 * cost::parameter("topk") * cost::parameter("block") * (cost::Dk + cost::Dv));
  v.params = {integer_param("block", 4, 1, 1 << 20, "rows per expert"),
              integer_param("topk", 1, 1, 1 << 20, "experts per query; only these have gradients")};
  v.inputs = {{"w", false, "routing rows; the router scores an expert by the mean of its rows"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = false;
  v.traits.stable = false; // rounding decides between experts whose scores nearly tie
  return v;
}

} // namespace recollect::variants
