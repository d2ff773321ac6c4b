// SPDX-License-Identifier: Apache-2.0
// Native sparse attention: the gated sum of softmax attention to the means of blocks, to a few whole blocks, and to the
// last tokens (Yuan et al. 2025, arXiv:2502.11089; the formulas are those of fla/ops/nsa/naive.py).
//
//   o_t = alpha_t A(means of complete blocks) + beta_t A(selected blocks) + lambda_t[0] A(last `window` tokens)
//   A(rows) = sum_i softmax(scale q_t . k_i) v_i over these rows that are not after t, 0 without rows
//
// Selected are the first block, that of t and the one before it, and the topk - 3 best of the others by q_t . mean
// of k, ties to the earlier block. The choice is discontinuous: where two scores nearly tie, rounding decides, and
// gradients go through what was chosen. No finite state. Cost of token t: 2 (t / block + topk block + window) (Dk + Dv)
// flops.
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
        Real *const p = h.work;
        // Adds gate A(rows 0 ... n-1 that `sees` accepts); rows are those of the branch.
        const auto add = [&](const auto &branch, int t, int n, const auto &sees) {
          if (n == 0) return;
          const size_t step = h.index * h.T + t;
          each(team, n, [&](int i) { p[i] = sees(i) ? branch.logit(step, i) : -Real(HUGE_VAL); });
          team.barrier();
          soften(team, n, p);
          team.barrier();
          each(team, h.Dv, [&](int c) {
            Real sum = 0;
            for (int i = 0; i < n; ++i) sum += p[i] * branch.v.at(h.index, i)[c];
            h.o(t)[c] += branch.gate(step * branch.gates) * sum;
          });
          team.barrier();
        };
        for (int t = 0; t < h.T; ++t) {
          const auto &selected = branches.selected.set;
          each(team, h.Dv, [&](int c) { h.o(t)[c] = 0; });
          add(branches.compressed, t, (t + 1) / branches.compressed.set.block, [](int) { return true; });
          add(branches.selected, t, t + 1,
              [&](int i) { return selected.selects(h.index, t, i / selected.keys.block, h.q(t)); });
          add(branches.sliding, t, t + 1, [&](int i) { return i > t - branches.sliding.set.window; });
        }
      });
}
template <class Real> void parallel(const Call<Real> &call) {
  const SparseBranches<Real> branches = sparse_branches(call, scale(call));
  read_branches("nsa::parallel", call, branches);
  Kokkos::parallel_for("nsa::parallel::sum", over(call.o.extent(0)), SumOfBranches<Real>{branches, call.o});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  branches_vjp("nsa::backward", back, scale(back.call));
}

} // namespace

Variant nsa() {
  Variant v = attention_variant();
  v.aliases = {"native_sparse_attention"};
  v.update = "$o_t = alpha_t$ attention to the means of complete blocks $+ beta_t$ to selected blocks $+ lambda_t[0]$ "
             "to the last "
             "tokens";
  v.source = "Yuan et al. 2025 (arXiv:2502.11089), as in fla/ops/nsa/naive.py";
  v.differs = "every head selects its own blocks; the source's groups of heads share them";
  const Polynomial rows = cost::t / cost::parameter("block") + cost::parameter("topk") * cost::parameter("block") +
                          cost::parameter("window");
  v.cost = cost::at_least({2 * rows * (cost::Dk + cost::Dv), rows});
  v.params = {integer_param("block", 4, 1, 1 << 20, "tokens per block"),
              integer_param("topk", 4, 3, 1 << 20, "blocks selected, with the first, the last and the one before it"),
              integer_param("window", 4, 1, 1 << 30, "tokens that the third branch reads"),
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
