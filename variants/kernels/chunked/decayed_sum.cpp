// SPDX-License-Identifier: Apache-2.0
// Compiled once here for all layers that are decayed sums.
#include "variants/kernels/chunked/decayed_sum_algebra.hpp"
#include "variants/kernels/chunked/forward.hpp"
#include "variants/kernels/chunked/single_block.hpp"

namespace recollect::variants {

template <class Real> void decayed_sum(const std::string &label, const Call<Real> &call, const DecayedSum<Real> &in) {
  if (run_whole(label, call, in, WholeSum<Real>{{in, call.shape.T, call.shape.Dv, call.v}, call.o})) return;
  if constexpr (std::is_same<Real, float>::value)
    if (run_static(label, call, in)) return;
  run_chunks(label, call,
             DecayedSumAlgebra<Real>{
                 {in, call.shape.T, call.chunk, call.shape.Dv, call.state, call.state_shape.size()}, call.v, call.o});
}

template void decayed_sum(const std::string &, const Call<float> &, const DecayedSum<float> &);
template void decayed_sum(const std::string &, const Call<double> &, const DecayedSum<double> &);

} // namespace recollect::variants
