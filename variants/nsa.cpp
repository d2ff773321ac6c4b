// SPDX-License-Identifier: Apache-2.0
// Native sparse attention: the gated sum of softmax attention to the means of blocks, to a few whole blocks, and to the
// last tokens (Yuan et al. 2025, arXiv:2502.11089; the formulas follow fla/ops/nsa/naive.py).
//
//   o_t = alpha_t A(means of complete blocks) + beta_t A(selected blocks) + lambda_t[0] A(last `window` tokens)
//   A(rows) = sum_i softmax(scale q_t . k_i) v_i over the rows up to t, 0 if there are none
//
// The selected blocks are the first block, the block of t, the block before it, and the topk - 3 others whose mean key
// has the largest inner product with q_t. If blocks have equal scores, the earlier block wins. The choice of blocks is
// discontinuous: if two scores are nearly equal, rounding decides. Gradients hold the choice fixed. No finite state.
// Cost of token t: 2 (t / block + topk block + window) (Dk + Dv) flops.
#include "variants/kernels/attention/attention.hpp"
#include "variants/kernels/attention/sparse_branches.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> Real scale(const Call<Real> &call) {
  return Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk))));
}

template <class Real> void recurrent(const Call<Real> &call) {
  const SparseBranches<Real> branches = sparse_branches(call, scale(call));
  each_head(
      "nsa::recurrent", call, call.shape.T, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        const auto &compressed = branches.compressed;
        const auto &selected = branches.selected;
        const auto &sliding = branches.sliding;
        for (int t = 0; t < h.T; ++t) {
          each(team, h.Dv, [&](int c) { h.o(t)[c] = 0; });
          add_read(team, h, t, compressed, (t + 1) / compressed.set.block, [](int) { return true; });
          add_read(team, h, t, selected, t + 1,
                   [&](int i) { return selected.set.selects(h.index, t, i / selected.set.keys.block, h.q(t)); });
          add_read(team, h, t, sliding, t + 1, [&](int i) { return i > t - sliding.set.window; });
        }
      });
}
template <class Real> void parallel(const Call<Real> &call) {
  const SparseBranches<Real> branches = sparse_branches(call, scale(call));
  read_branches("nsa::parallel", call, branches);
  parallel_loop("nsa::parallel::sum", call.o.extent(0), SumOfBranches<Real>{branches, call.o});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  branches_vjp("nsa::backward", back, scale(back.call));
}

} // namespace

Variant nsa() {
  Variant v = attention_variant();
  v.aliases = {"native_sparse_attention"};
  v.update = "$o_t = alpha_t$ attention to the means of complete blocks $+ beta_t$ to selected blocks $+ lambda_t[0]$ "
             "to the last tokens";
  v.source = "Yuan et al. 2025 (arXiv:2502.11089), as in fla/ops/nsa/naive.py";
  v.differs = "every head selects its own blocks; the source's groups of heads share them";
  const Polynomial rows = cost::t / cost::parameter("block") + cost::parameter("topk") * cost::parameter("block") +
                          cost::parameter("window");
  v.cost = cost::at_least({2 * rows * (cost::Dk + cost::Dv), rows});
  v.params = {integer_param("block", 4, 1, 1 << 20, "tokens per block"),
              integer_param("topk", 4, 3, 1 << 20,
                            "blocks selected, including the first, the query's own and the one before its own"),
              integer_param("window", 4, 1, 1 << 30, "width of the sliding branch in tokens"),
              tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on $q k^T$"), {1, 4, 16, 64})};
  v.inputs = {{"alpha", false, "gate of the compressed branch"},
              {"beta", false, "gate of the selected branch"},
              {"lambda", false, "its first channel is the gate of the sliding branch; the others are not read"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = false;
  v.traits.stable = false; // rounding decides between blocks whose scores nearly tie
  return v;
}

} // namespace recollect::variants
