// SPDX-License-Identifier: Apache-2.0
// Attention whose memory does not grow with T: each block of queries loops over blocks of keys (online_softmax.hpp).
#pragma once
#include "variants/kernels/attention/attention_cuda.hpp"
#include "variants/kernels/attention/online_softmax.hpp"

namespace recollect::variants {

/// Each work unit of the launch handles one block of queries: it reads the keys, then calls finish(team, head, rows,
/// sum, ld, peak, mass, stack).
template <class Number, class Kernel, class Finish> struct Attend {
  using Real = Number;
  OnlineSoftmax<Real, Kernel> loop;
  Finish finish;

  KOKKOS_FUNCTION int blocks() const { return (loop.queries.count - 1) / loop.most_rows + 1; }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *memory) const {
    Stack<Real> stack{memory};
    const auto buffers = loop.place(stack);
    const std::ptrdiff_t ld = tile::pitch<Real>(loop.values.width);
    Real *sum = stack.take(loop.most_rows * ld);
    const size_t head = unit / blocks();
    const int T = loop.queries.count,
              begin = (blocks() - 1 - int(unit % blocks())) * loop.most_rows; // blocks with the most keys first
    const Range rows{begin, begin + loop.most_rows < T ? begin + loop.most_rows : T};
    loop.begin(team, rows.size(), buffers, sum, ld);
    loop.gather(team, head, rows, {0, loop.mask == CausalMask::everything ? loop.keys.count : rows.end}, buffers, sum,
                ld);
    finish(team, head, rows, sum, ld, buffers.peak, buffers.mass, stack);
  }
  size_t scratch() const {
    Stack<Real> stack;
    loop.place(stack);
    stack.take(loop.most_rows * tile::pitch<Real>(loop.values.width));
    finish.place(stack);
    return stack.used;
  }
};

/// out_t = sum_t / mass_t; 0 where a query sees no key.
template <class Real> struct Divide {
  Rows<Real> out;
  void place(Stack<Real> &) const {}
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Range rows, const Real *sum, std::ptrdiff_t ld,
                                  const Real *, const Real *mass, Stack<Real>) const {
    Real *to = out.at(head, rows.begin);
    const int width = out.width;
    each_cell(team, rows.size(), width,
              [=](int r, int c) { to[size_t(r) * width + c] = mass[r] == 0 ? Real(0) : sum[r * ld + c] / mass[r]; });
  }
#ifdef __CUDACC__
  attention::WriteOutput<Real> on_fragments() const { return {attention::device_rows(out)}; }
#endif
};

#ifdef __CUDACC__
/// attend() on tensor cores (attention_cuda.hpp). Returns false if no kernel is compiled for these widths.
template <class Kernel, class Finish>
auto attend_on_fragments(const std::string &label, const Call<float> &call, const OnlineSoftmax<float, Kernel> &loop,
                         const Finish &finish) -> decltype(finish.on_fragments(), bool()) {
  if (!attention::has_extents(loop)) return false;
  if constexpr (!attention::is_costly<Kernel>)
    attention::with_products(call, [&](auto op) {
      const size_t mark = call.arena->mark();
      attention::forward(label, call, attention::compiled(loop.kernel), loop.mask,
                         attention::operands<decltype(op)>(label, call, loop), finish.on_fragments());
      call.arena->release(mark);
    });
  return true;
}
template <class... Other> bool attend_on_fragments(const std::string &, const Other &...) { return false; }
#endif

/// Reads all keys for every query of every head, then calls `finish`.
template <class Real, class Kernel, class Finish>
void attend(const std::string &label, const Call<Real> &call, const OnlineSoftmax<Real, Kernel> &loop,
            const Finish &finish) {
#ifdef __CUDACC__
  if (attend_on_fragments(label, call, loop, finish)) return;
#endif
  Attend<Real, Kernel, Finish> plain{loop, finish};
  const size_t mark = call.arena->mark();
  plain.loop.by_columns = columns_of(label, call, loop.keys, loop.most_keys, plain.blocks());
  run<Real>({label, call.shape.heads() * plain.blocks(), 256, call.math}, *call.arena, plain.scratch(), plain);
  call.arena->release(mark);
}

template <class Real, class Kernel>
void attend(const std::string &label, const Call<Real> &call, const Kernel &kernel,
            CausalMask mask = CausalMask::through_self) {
  const Shape &s = call.shape;
  attend(label, call,
         online_softmax(kernel, mask, rows_of(call.q, s, s.Dk), rows_of(call.k, s, s.Dk), rows_of(call.v, s, s.Dv),
                        call.chunk),
         Divide<Real>{rows_of(call.o, s, s.Dv)});
}

/// The definition: computes sum_t / mass_t in a plain loop over queries.
template <class Real, class Kernel> struct OneQueryAtATime {
  Kernel kernel;
  CausalMask mask;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const Kernel kappa = kernel;
    Real *p = h.work;
    for (int t = 0; t < h.T; ++t) {
      const int seen = mask == CausalMask::everything ? h.T : mask == CausalMask::earlier ? t : t + 1;
      each(team, seen, [=](int i) { p[i] = kappa(h.index, t, i, dot(h.k(i), h.q(t), h.Dk)); });
      team.barrier();
      if (kernel.normalised()) soften(team, seen, p);
      team.barrier();
      each(team, h.Dv, [=](int c) {
        Real sum = 0;
        for (int i = 0; i < seen; ++i) sum += p[i] * h.v(i)[c];
        h.o(t)[c] = sum;
      });
      team.barrier();
    }
  }
};

template <class Real, class Kernel>
void attend_one_by_one(const std::string &label, const Call<Real> &call, const Kernel &kernel,
                       CausalMask mask = CausalMask::through_self) {
  each_head(label, call, call.shape.T, OneQueryAtATime<Real, Kernel>{kernel, mask});
}

/// Descriptor fields that all attention layers share.
Variant attention_variant();

} // namespace recollect::variants
