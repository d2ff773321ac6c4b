// SPDX-License-Identifier: Apache-2.0
// Compiled here once, for all layers of the family.
#include "variants/kernels/wy_algebra.hpp"

namespace recollect::variants {

template <class Real> void delta_rule(const std::string &label, const Call<Real> &call, const DeltaRule<Real> &in) {
  run_chunks(label, call,
             WyAlgebra<Real>{in, call.shape.T, call.chunk, call.shape.Dk, call.shape.Dv, call.q, call.v, call.o,
                             call.state, call.state_shape.size(), solves_ahead(call)});
}

template void delta_rule(const std::string &, const Call<float> &, const DeltaRule<float> &);
template void delta_rule(const std::string &, const Call<double> &, const DeltaRule<double> &);

} // namespace recollect::variants
