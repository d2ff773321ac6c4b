// SPDX-License-Identifier: Apache-2.0
// The gradients of backward.hpp for sequences so short that one team holds all pairs of a head. The team computes each
// pair once, and needs no earlier pass for the softmax denominators.
#pragma once
#include "variants/kernels/attention/block_gradient.hpp"

namespace recollect::variants {

/// Computes dq, dk and dv. Each work unit of the launch takes one head.
template <class Number, class Kernel, class Gates> struct WholeGradient {
  using Real = Number;
  BlockGradient<Real, Kernel> block; // the whole head is one block
  Rows<Real> dq, dk, dv;
  Gates gates;

  size_t scratch() const { return block.scratch(); }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Real *memory) const {
    Stack<Real> stack{memory};
    const auto buffers = block.place(stack);
    const std::ptrdiff_t ld = block.ld();
    const Range rows{0, dq.count}, keys{0, dk.count};
    typename BlockGradient<Real, Kernel>::Block b;
    block.stage_queries(team, head, rows, buffers, b);
    block.stage_keys(team, head, keys, buffers, b);
    team.barrier();
    block.multiply(team, rows, keys, b, buffers.p, buffers.dz, ld);
    team.barrier();
    if (block.loop.kernel.normalised()) {
      leave_facts(team, head, rows, keys, buffers.p, buffers.dz, ld);
      team.barrier();
    }
    block.weigh(team, head, rows, keys, buffers.p, buffers.dz, ld);
    team.barrier();
    gates.of_queries(team, head, rows, keys, buffers.dz, ld);
    gates.of_keys(team, head, rows, keys, buffers.dz, ld);
    tile::gemm(team, rows.size(), dq.width, keys.size(), Real(1), tile::rows<Real>(buffers.dz, ld), b.k, Real(0),
               dq.at(head, 0), dq.width);
    tile::gemm(team, keys.size(), dv.width, rows.size(), Real(1), tile::transposed<Real>(buffers.p, ld), b.d_o, Real(0),
               dv.at(head, 0), dv.width);
    tile::gemm(team, keys.size(), dk.width, rows.size(), Real(1), tile::transposed<Real>(buffers.dz, ld), b.q, Real(0),
               dk.at(head, 0), dk.width);
  }

private:
  /// Saves every query's softmax statistics, which it computes from z and dp of all keys.
  KOKKOS_FUNCTION void leave_facts(const Team &team, size_t head, Range rows, Range keys, const Real *all_z,
                                   const Real *all_dp, std::ptrdiff_t ld) const {
    const Kernel kappa = block.loop.kernel;
    const tile::Staircase seen = block.seen(rows, keys);
    const int n = keys.size();
    const QueryFacts<Real> facts = block.facts;
    const size_t first = head * rows.size();
    each_row(team, rows.size(), [=](int t, int lane, int lanes) {
      const Real *z = all_z + t * ld, *dp = all_dp + t * ld;
      const auto logit = [=](int i) { return kappa(head, t, i, z[i]); };
      const auto plus = [](Real a, Real b) { return a + b; };
      const int end = seen.end(t, n);
      const Real peak = row_max<Real>(end, lane, lanes, logit);
      Real mass = 0, along = 0;
      for (int i = lane; i < end; i += lanes) {
        const Real weight = math::exp(logit(i) - peak);
        mass += weight, along += weight * dp[i];
      }
      mass = across_row(mass, plus), along = across_row(along, plus);
      if (lane == 0) facts.leave(first + t, peak, mass, along);
    });
  }
};

#ifdef KOKKOS_ENABLE_CUDA
/// Computes all gradients if sequences are so short that a multiprocessor holds the scratch of two heads at once.
/// Returns whether it did.
template <class Real, class Kernel, class Gates>
bool single_block_gradient(const std::string &label, const Call<Real> &call, BlockGradient<Real, Kernel> block,
                           const Rows<Real> &dq, const Rows<Real> &dk, const Rows<Real> &dv, const Gates &gates) {
  block.loop.most_rows = dq.count, block.loop.most_keys = dk.count;
  const WholeGradient<Real, Kernel, Gates> whole{block, dq, dk, dv, gates};
  if (!launching::fit_together<Real>(2, whole.scratch())) return false;
  run<Real>({label + "::pairs", call.shape.heads(), 256, call.math}, *call.arena, whole.scratch(), whole);
  return true;
}
#endif

} // namespace recollect::variants
