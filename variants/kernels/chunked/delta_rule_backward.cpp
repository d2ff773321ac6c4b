// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/chunked/backward.hpp"
#include "variants/kernels/chunked/delta_rule_backward_algebra.hpp"
#include "variants/kernels/chunked/delta_rule_backward_steps.hpp"

namespace recollect::variants {

template <class Real>
ChunkStates<Real> delta_rule_chunk_states(const std::string &label, const Call<Real> &call, const DeltaRule<Real> &in) {
  DeltaRuleAlgebra<Real> forward = delta_rule_algebra(call, in);
  forward.saved.starts = ChunkStates<Real>(call, forward);
  run_chunks(label, call, forward);
  return forward.saved.starts;
}

template <class Real>
void delta_rule_vjp(const std::string &label, const BackwardCall<Real> &back, const DeltaRule<Real> &in,
                    const DeltaRuleGradient<Real> &d) {
  const bool channels = in.lambda.extent(0);
  if (in.steps != 1 || (in.keys.extent(0) && !channels))
    throw std::logic_error(
        label +
        ": the backward pass of the delta rule serves neither sub-steps nor, without lambda, separate read keys");
  if (channels) return delta_rule_vjp_by_steps(label, back, in, d);
  if constexpr (std::is_same<Real, float>::value)
    if (run_static(label, back, in, d)) return;
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  const size_t stride = call.state_shape.size();
  DeltaRuleAlgebra<Real> forward = delta_rule_algebra(call, in);
  forward.saved = {ChunkStates<Real>(call, forward), allocate(call, call.steps() * (s.Dk + s.Dv))};
  run_chunks(label + "::chunk_states", call, forward);
  const DeltaRuleAdjoint<Real> adjoint{in,     d,        s.T,      call.chunk,   s.Dk,   s.Dv,          call.q,
                                       call.v, back.d.o, back.d.v, back.d.state, stride, forward.saved, forward.ahead};
  run_chunks(label, call, adjoint, true);
}

template ChunkStates<float> delta_rule_chunk_states(const std::string &, const Call<float> &, const DeltaRule<float> &);
template ChunkStates<double> delta_rule_chunk_states(const std::string &, const Call<double> &,
                                                     const DeltaRule<double> &);
template void delta_rule_vjp(const std::string &, const BackwardCall<float> &, const DeltaRule<float> &,
                             const DeltaRuleGradient<float> &);
template void delta_rule_vjp(const std::string &, const BackwardCall<double> &, const DeltaRule<double> &,
                             const DeltaRuleGradient<double> &);

} // namespace recollect::variants
