// SPDX-License-Identifier: Apache-2.0
// Compiled once here for all layers that are decayed sums.
#include "variants/kernels/chunked/forward.hpp"
#include "variants/kernels/chunked/gated_recurrence_algebra.hpp"
#include "variants/kernels/chunked/single_block.hpp"

namespace recollect::variants {

template <class Real>
void gated_recurrence(const std::string &label, const Call<Real> &call, const GatedRecurrence<Real> &in) {
  if (run_whole(label, call, in, WholeSum<Real>{{in, call.shape.T, call.shape.Dv, call.v}, call.o})) return;
  if constexpr (std::is_same<Real, float>::value)
    if (run_static(label, call, in)) return;
  run_chunks(label, call,
             GatedRecurrenceAlgebra<Real>{
                 {in, call.shape.T, call.chunk, call.shape.Dv, call.state, call.state_shape.size()}, call.v, call.o});
}

template void gated_recurrence(const std::string &, const Call<float> &, const GatedRecurrence<float> &);
template void gated_recurrence(const std::string &, const Call<double> &, const GatedRecurrence<double> &);

} // namespace recollect::variants
