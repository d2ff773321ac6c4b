// SPDX-License-Identifier: Apache-2.0
// Mixture of block attention: softmax attention to the few blocks of keys whose means have the largest inner products
// with the query (000 Eq 25-27; Lu et al. 2025).
//
//   e(i) = i / block,   s_e(q) = q . mean_{i in e} k_i
//   o_t = sum_{i<=t, e(i) in G_t} softmax(scale q_t . k_i) v_i,   scale = 1/sqrt(Dk)
//
// G_t contains the block of step t, and the topk - 1 complete earlier blocks with the largest scores. The block of step
// t is read causally and has no score, because its mean would need later keys; Eq 25-27 do not say what happens to this
// block. If blocks have equal scores, the earlier block wins (blocks.hpp). The choice of blocks is discontinuous: if
// two scores are nearly equal, rounding decides. Gradients hold the choice fixed. No finite state. Cost of token t:
// recurrent 2 t^2 / block Dk; parallel 2 Dk t / block + 2 topk block (Dk + Dv) flops.
#include "variants/kernels/attention/chosen_backward.hpp"
#include "variants/kernels/attention/similarity.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

/// The definition: computes the logits of all earlier keys; logits outside the chosen blocks are minus infinity.
template <class Real> struct ChosenBlocks {
  Real scale;
  int topk;
  Blocks<Real> blocks;
  Array<Real> q;
  KOKKOS_FUNCTION static constexpr bool normalised() { return true; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real qk) const {
    const int here = t / blocks.block, e = i / blocks.block;
    const Real *query = q.data() + (head * blocks.T + t) * blocks.width;
    return e == here || blocks.among_best(head, e, query, here, topk - 1) ? scale * qk : -Real(HUGE_VAL);
  }
};

/// Computes the output of one query: finds its blocks, then runs an online softmax over them.
template <class Real> struct ReadBlocks {
  Real scale;
  int Dk, Dv;
  Choice<Real> choice;
  Array<Real> q, k, v, o;

  KOKKOS_FUNCTION void operator()(size_t step) const {
    const size_t first = step / choice.blocks.T * choice.blocks.T; // the head's first step
    const Real *query = q.data() + step * Dk;
    Real *out = o.data() + step * Dv, peak = 0, mass = 0;
    choice.find(step);
    for (int c = 0; c < Dv; ++c) out[c] = 0;
    choice.each_read(step, [&](int i) {
      const Real logit = scale * dot(query, k.data() + (first + i) * Dk, Dk),
                 now = mass == 0 || logit > peak ? logit : peak;
      const Real keep = mass == 0 ? Real(0) : math::exp(peak - now), add = math::exp(logit - now);
      const Real *value = v.data() + (first + i) * Dv;
      for (int c = 0; c < Dv; ++c) out[c] = out[c] * keep + add * value[c];
      mass = mass * keep + add;
      peak = now;
    });
    for (int c = 0; c < Dv; ++c) out[c] /= mass;
  }
};

template <class Real> Real scale(const Call<Real> &call) {
  return Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk))));
}
template <class Real> Blocks<Real> blocks(const Call<Real> &call) {
  return blocks_of(call.k, call.shape, call.params.integer("block"));
}

template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("moba::recurrent", call,
                    ChosenBlocks<Real>{scale(call), call.params.integer("topk"), blocks(call), call.q});
}
template <class Real> void parallel(const Call<Real> &call) {
  parallel_loop("moba::parallel", call.steps(),
                ReadBlocks<Real>{scale(call), call.shape.Dk, call.shape.Dv, choice_of(call, blocks(call), true), call.q,
                                 call.k, call.v, call.o});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  chosen_vjp("moba::backward", back, choice_of(call, blocks(call), true),
             FixedKernel<Real, Kind::softmax>{scale(call), 1});
}

} // namespace

Variant moba() {
  Variant v = attention_variant();
  v.update = "$o_t$ = sum over $i <= t$ in the chosen blocks of $softmax(scale q_t . k_i) v_i$";
  v.source = "000 Eq 25-27; Lu et al. 2025 (arXiv:2502.13189)";
  v.differs = "gradients go through the chosen blocks; the choice is piecewise constant and has no gradient";
  v.cost = cost::at_least({2 * cost::Dk * cost::t / cost::parameter("block") +
                               2 * cost::parameter("topk") * cost::parameter("block") * (cost::Dk + cost::Dv),
                           cost::parameter("topk") * cost::parameter("block")});
  v.params = {integer_param("block", 4, 1, 1 << 20, "keys per block"),
              integer_param("topk", 2, 1, 1 << 20, "blocks read, the current one included; only these have gradients"),
              tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on $q k^T$"), {1, 4, 16, 64})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = false;
  v.traits.stable = false; // rounding decides between blocks whose scores nearly tie
  return v;
}

} // namespace recollect::variants
