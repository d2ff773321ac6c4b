// SPDX-License-Identifier: Apache-2.0
// Compiled here once, for all layers that are such sums.
#include "variants/kernels/decayed_sum_algebra.hpp"
#include "variants/kernels/decayed_sum_segments_cuda.hpp"
#include "variants/kernels/whole_sum.hpp"

namespace recollect::variants {

#ifdef KOKKOS_ENABLE_CUDA
namespace {
/// False for products that are to be exact, and where there are no segments.
bool in_segments(const std::string &label, const Call<float> &call, const DecayedSumInWarps &sum) {
  const int chunks = call.math == Math::exact ? 1 : segment_chunks(call);
  if (chunks == 1) return false;
  Call<float> wide = call;
  wide.chunk *= chunks;
  if (call.math == Math::bf16)
    run_chunks(label, wide, DecayedSumInSegments<Math::bf16>{sum, chunks});
  else
    run_chunks(label, wide, DecayedSumInSegments<Math::tf32>{sum, chunks});
  return true;
}
} // namespace
#endif

template <class Real> void decayed_sum(const std::string &label, const Call<Real> &call, const DecayedSum<Real> &in) {
  if (run_whole(label, call, in, WholeSum<Real>{{in, call.shape.T, call.shape.Dv, call.v}, call.o})) return;
  const DecayedState<Real> state{in, call.shape.T, call.chunk, call.shape.Dv, call.state, call.state_shape.size()};
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same<Real, float>::value)
    if (DecayedSumInWarps::suits(call, in)) {
      const DecayedSumInWarps sum{state, {}, call.v, call.o};
      if (!in_segments(label, call, sum)) run_chunks(label, call, sum);
      return;
    }
#endif
  run_chunks(label, call, DecayedSumAlgebra<Real>{state, call.v, call.o});
}

template void decayed_sum(const std::string &, const Call<float> &, const DecayedSum<float> &);
template void decayed_sum(const std::string &, const Call<double> &, const DecayedSum<double> &);

} // namespace recollect::variants
