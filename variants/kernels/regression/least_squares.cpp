// SPDX-License-Identifier: Apache-2.0
// Instances with and without forgetting, compiled in this file for all layers.
#include "variants/kernels/chunked/delta_rule.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/regression/inverse_cuda.hpp"
#include "variants/kernels/regression/least_squares_block.hpp"

namespace recollect::variants {

template <class Real> struct LeastSquaresChunked {
  bool forgets;

  struct Buffers {
    LeastSquaresBlock<Real> block;
    std::ptrdiff_t lds, ldp;
    Real *ST, *P, *D; // ST: [F,Dv] S transposed; P: [F,F]; D: [C] products of the block's alphas
    KOKKOS_FUNCTION Buffers(Stack<Real> &s, int C, int F, int Dv)
        : lds(tile::pitch<Real>(Dv)), ldp(tile::pitch<Real>(F)) {
      block.place(s, C, F, Dv);
      ST = s.take(F * lds), P = s.take(F * ldp), D = s.take(C);
    }
  };
  static size_t work_size(int C, int F, int Dv) {
    Stack<Real> stack;
    Buffers(stack, C, F, Dv);
    return stack.used;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv, C = h.chunk;
    Stack<Real> stack{h.work};
    Buffers x(stack, C, F, Dv);
    Real *const D = x.D, *const P = h.state + size_t(Dv) * F;
    tile::transpose(team, Dv, F, h.state, F, x.ST, x.lds);
    tile::copy(team, F, F, P, F, x.P, x.ldp);

    for (int t0 = 0, n = 0; t0 < h.T; t0 += n) {
      const int left = h.T - t0;
      const int steps = block_products(team, forgets ? h.alpha + t0 : nullptr, left < C ? left : C, D);
      n = x.block.run(team, h, t0, steps, D, x.P, x.ldp, x.ST, x.lds);
      x.block.updates.apply(team, 1 / D[n - 1], x.P, x.ldp);
    }
    tile::transpose(team, F, Dv, x.ST, x.lds, h.state, F);
    tile::copy(team, F, F, x.P, x.ldp, P, F);
  }
};

#ifdef __CUDACC__
/// Runs S as a delta rule that writes along the gains z_t / d_t. The gains do not depend on S, so they are computed
/// first.
template <Inverse kind, class Real> void by_steps(const std::string &label, const Call<Real> &call) {
  const Array<Real> gain = allocate(call, call.k.extent(0));
  using Steps = InverseInRegisters<Real, kind>;
  Steps{HeadArrays<Real>(call), call.k, {}, call.alpha, 0, 0, gain, {}}.run_on(label + "::inverse", call);
  delta_rule(label, call, DeltaRule<Real>{1, call.k, gain, {}, {}, {}, {}});
}
#endif

template <class Real> void least_squares_chunked(const std::string &label, const Call<Real> &call, bool forgets) {
#ifdef __CUDACC__
  if (InverseInRegisters<Real, Inverse::gains>::supports(call))
    return forgets ? by_steps<Inverse::forgetting_gains>(label, call) : by_steps<Inverse::gains>(label, call);
#endif
  using Kernel = LeastSquaresChunked<Real>;
  each_head(label, call, Kernel::work_size(call.chunk, call.shape.Dk, call.shape.Dv), Kernel{forgets});
}

template void least_squares_chunked(const std::string &, const Call<float> &, bool);
template void least_squares_chunked(const std::string &, const Call<double> &, bool);

} // namespace recollect::variants
