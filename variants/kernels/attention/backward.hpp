// SPDX-License-Identifier: Apache-2.0
// Gradients of attention.hpp's layers, by blocks of queries and keys and in memory linear in T (after Dao et al. 2022,
// arXiv:2205.14135, Appendix B): weights are recomputed from each query's normaliser, which the forward pass saves.
// With the weights p and the gradients dz of the products q_t . k_i (block_gradient.hpp),
//
//   dq_t = sum_i dz_ti k_i,   dk_i = sum_t dz_ti q_t,   dv_i = sum_t p_ti do_t
//
// On a GPU, one team holds all pairs of a short sequence (single_block_gradient.hpp). Otherwise every pair is computed
// twice, so that no two teams add to the same sum: for dq, a block of queries loops over keys; for dk and dv, a block
// of keys loops over queries. Normalisers that were not saved are computed first. Tensor cores are used where
// attention_cuda.hpp has kernels. A CPU has few threads, so there each pair is computed once (joint_gradient.hpp).
#pragma once
#include "variants/kernels/attention/attention.hpp"
#include "variants/kernels/attention/joint_gradient.hpp"
#include "variants/kernels/attention/single_block_gradient.hpp"

namespace recollect::variants {

/// A `finish` for attend() (attention.hpp): saves each query's softmax statistics.
template <class Real> struct LeaveFacts {
  QueryFacts<Real> facts;
  Rows<Real> d_o;
#ifdef __CUDACC__
  attention::LeaveStatistics<Real> on_fragments() const {
    return {{d_o.data.data(), d_o.count, d_o.width}, {facts.normaliser.data(), facts.read.data()}};
  }
#endif
  void place(Stack<Real> &) const {}
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Range rows, const Real *sum, std::ptrdiff_t ld,
                                  const Real *peak, const Real *mass, Stack<Real>) const {
    const int V = d_o.width;
    const size_t first = head * d_o.count + rows.begin;
    const Real *asked = d_o.at(head, rows.begin);
    const QueryFacts<Real> facts = this->facts;
    each_row(team, rows.size(), [=](int r, int lane, int lanes) {
      Real along = 0;
      for (int c = lane; c < V; c += lanes) along += asked[size_t(r) * V + c] * sum[r * ld + c];
      along = across_row(along, [](Real a, Real b) { return a + b; });
      if (lane == 0) facts.leave(first + r, peak[r], mass[r], along);
    });
  }
};

/// A work unit of the launch handles either one block of queries, with a loop over keys (dq), or one block of keys,
/// with a loop over queries (dk and dv).
template <class Number, class Kernel, bool of_queries, class Gates = NoGates> struct SideGradient {
  using Real = Number;
  BlockGradient<Real, Kernel> block;
  Rows<Real> d_logits, d_values; // dq and an empty array, or dk and dv
  Gates gates = {};

  KOKKOS_FUNCTION int own_size() const { return of_queries ? block.loop.most_rows : block.loop.most_keys; }
  KOKKOS_FUNCTION int blocks() const { return (d_logits.count - 1) / own_size() + 1; }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
    const auto &loop = block.loop;
    Stack<Real> stack{memory};
    const auto buffers = block.place(stack);
    const size_t head = unit / blocks();
    const int nth = int(unit % blocks()),
              begin = (of_queries ? blocks() - 1 - nth : nth) * own_size(); // blocks with the most pairs first
    const Range own{begin, begin + own_size() < d_logits.count ? begin + own_size() : d_logits.count},
        others = others_of(own);
    typename BlockGradient<Real, Kernel>::Block b;
    stage<of_queries>(team, head, own, buffers, b);
    const int step = of_queries ? loop.most_keys : loop.most_rows;
    for (int at = others.begin; at < others.end; at += step) {
      const Range other{at, at + step < others.end ? at + step : others.end}, rows = of_queries ? own : other,
                                                                              keys = of_queries ? other : own;
      stage<!of_queries>(team, head, other, buffers, b);
      team.barrier();
      block.weigh(team, head, rows, keys, b, buffers);
      team.barrier();
      const Real kept = Real(at > others.begin);
      Real *const to = d_logits.at(head, begin);
      if constexpr (of_queries) {
        gates.of_queries(team, head, rows, keys, buffers.dz, block.ld());
        tile::gemm(team, rows.size(), d_logits.width, keys.size(), Real(1), tile::rows<Real>(buffers.dz, block.ld()),
                   b.k, kept, to, d_logits.width);
      } else {
        gates.of_keys(team, head, rows, keys, buffers.dz, block.ld());
        tile::gemm(team, keys.size(), d_values.width, rows.size(), Real(1),
                   tile::transposed<Real>(buffers.p, block.ld()), b.d_o, kept, d_values.at(head, begin),
                   d_values.width);
        tile::gemm(team, keys.size(), d_logits.width, rows.size(), Real(1),
                   tile::transposed<Real>(buffers.dz, block.ld()), b.q, kept, to, d_logits.width);
      }
      team.barrier();
    }
  }
  size_t scratch() const { return block.scratch(); }

private:
  KOKKOS_FUNCTION Range others_of(Range own) const {
    const bool all = block.loop.mask == CausalMask::everything;
    if (of_queries) return {0, all ? block.loop.keys.count : own.end};
    return {all ? 0 : own.begin, block.loop.queries.count};
  }
  template <bool queries>
  KOKKOS_FUNCTION void stage(const Team &team, size_t head, Range range,
                             const typename BlockGradient<Real, Kernel>::Buffers &buffers,
                             typename BlockGradient<Real, Kernel>::Block &b) const {
    if constexpr (queries)
      block.stage_queries(team, head, range, buffers, b);
    else
      block.stage_keys(team, head, range, buffers, b);
  }
};

/// Runs the gradient of every block of every head, one block per work unit.
template <class Real, class Gradient>
void run_blocks(const std::string &label, const Call<Real> &call, const Gradient &gradient) {
  run<Real>({label, call.shape.heads() * gradient.blocks(), 256, call.math}, *call.arena, gradient.scratch(), gradient);
}

#ifdef __CUDACC__
/// Computes dq, dk and dv on tensor cores. Returns false if attention_cuda.hpp has no kernel for these widths. Computes
/// the queries' softmax statistics first if they are missing.
template <class Kernel>
bool gradients_on_fragments(const std::string &label, const Call<float> &call,
                            const BlockGradient<float, Kernel> &block, const Rows<float> &dq, const Rows<float> &dk,
                            const Rows<float> &dv, bool facts_are_missing) {
  const OnlineSoftmax<float, Kernel> &loop = block.loop;
  if (!attention::has_extents(loop)) return false;
  if constexpr (!attention::is_costly<Kernel>)
    attention::with_products(call, [&](auto op) {
      using Op = decltype(op);
      const size_t mark = call.arena->mark();
      const auto kernel = attention::compiled(loop.kernel);
      const attention::Operands<Op> in = attention::operands<Op>(label, call, loop);
      if constexpr (!never_normalised<Kernel>)
        if (facts_are_missing && kernel.normalised())
          attention::forward(label + "::masses", call, kernel, loop.mask, in,
                             LeaveFacts<float>{block.facts, block.d_o}.on_fragments());
      attention::backward(label, call, kernel, loop.mask, in, attention::operand<Op>(label, call, block.d_o),
                          {block.facts.normaliser.data(), block.facts.read.data()},
                          attention::GradientRows<float>{attention::device_rows(dq), attention::device_rows(dk),
                                                         attention::device_rows(dv)});
      call.arena->release(mark);
    });
  return true;
}
#endif

/// Computes dq, dk and dv. Where weights are normalised, it reads the queries' softmax statistics.
template <class Real, class Kernel, class Gates = NoGates>
void gradients_by_blocks(const std::string &label, const Call<Real> &call, const BlockGradient<Real, Kernel> &block,
                         const Rows<Real> &dq, const Rows<Real> &dk, const Rows<Real> &dv, const Gates &gates = {}) {
#ifdef __CUDACC__
  if constexpr (std::is_same_v<Real, float> && std::is_same_v<Gates, NoGates>)
    if (gradients_on_fragments(label, call, block, dq, dk, dv, false)) return;
#endif
  run_blocks(label + "::queries", call, SideGradient<Real, Kernel, true, Gates>{block, dq, {}, gates});
  run_blocks(label + "::keys", call, SideGradient<Real, Kernel, false, Gates>{block, dk, dv, gates});
}

/// Gradients of attend(back.call): writes back.d.q, back.d.k and back.d.v, and returns the queries' softmax statistics.
template <class Real, class Kernel, class Gates = NoGates>
QueryFacts<Real> attend_vjp(const std::string &label, const BackwardCall<Real> &back, const Kernel &kernel,
                            CausalMask mask = CausalMask::through_self, const Gates &gates = {}) {
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  const auto loop = online_softmax(kernel, mask, rows_of(call.q, s, s.Dk), rows_of(call.k, s, s.Dk),
                                   rows_of(call.v, s, s.Dv), call.chunk);
  const size_t kept = kernel.normalised() ? call.steps() : 0;
  const QueryFacts<Real> facts{allocate(call, kept), allocate(call, kept)};
  const BlockGradient<Real, Kernel> block{loop, rows_of(back.d.o, s, s.Dv), facts};
  const Rows<Real> dq = rows_of(back.d.q, s, s.Dk), dk = rows_of(back.d.k, s, s.Dk), dv = rows_of(back.d.v, s, s.Dv);
  if constexpr (on_host)
    if (!kernel.normalised() || Steady<Kernel>::value) {
      joint_gradient(label, call, block, dq, dk, dv, gates);
      return facts;
    }
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (on_cuda)
    if (!has_sink<Real>(kernel) && single_block_gradient(label, call, block, dq, dk, dv, gates)) return facts;
#endif
#ifdef __CUDACC__
  if constexpr (std::is_same_v<Real, float> && std::is_same_v<Gates, NoGates>)
    if (gradients_on_fragments(label, call, block, dq, dk, dv, true)) return facts;
#endif
  if constexpr (!never_normalised<Kernel>)
    if (kernel.normalised()) attend(label + "::masses", call, loop, LeaveFacts<Real>{facts, block.d_o});
  gradients_by_blocks(label, call, block, dq, dk, dv, gates);
  return facts;
}

} // namespace recollect::variants
