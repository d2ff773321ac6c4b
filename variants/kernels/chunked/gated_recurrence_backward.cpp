// SPDX-License-Identifier: Apache-2.0
// The backward pass runs the algebras of gated_recurrence_backward_algebra.hpp after a forward pass that saves the
// state at the start of every chunk.
#include "variants/kernels/chunked/backward.hpp"
#include "variants/kernels/chunked/both_gates.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward_algebra.hpp"
#include "variants/kernels/chunked/normaliser.hpp"
#include "variants/kernels/chunked/single_block.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

template <class Real>
ChunkStates<Real> gated_recurrence_chunk_states(const std::string &label, const Call<Real> &call,
                                                const GatedRecurrence<Real> &in, bool reads,
                                                const Array<Real> &weights) {
  const Shape &s = call.shape;
  const GatedRecurrenceAlgebra<Real> forward{
      {in, s.T, call.chunk, s.Dv, call.state, call.state_shape.size()}, call.v, call.o, weights};
  const ChunkStates<Real> starts(call, forward);
  run_chunks(label + "::chunk_states", call, GatedRecurrenceSaving<Real>{forward, starts, reads});
  return starts;
}

template <class Real>
void gated_recurrence_back(const std::string &label, const BackwardCall<Real> &back, const GatedRecurrence<Real> &in,
                           const GatedRecurrenceGradient<Real> &d, const ChunkStates<Real> &starts,
                           const Array<Real> &d_o, const Array<Real> &d_weight) {
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  run_chunks(label, call,
             GatedRecurrenceAdjoint<Real>{{in, s.T, call.chunk, s.Dv, back.d.state, call.state_shape.size()},
                                          d,
                                          call.v,
                                          d_o,
                                          back.d.v,
                                          starts,
                                          d_weight},
             true);
}

template <class Real>
void gated_recurrence_vjp(const std::string &label, const BackwardCall<Real> &given, GatedRecurrence<Real> in,
                          const GatedRecurrenceGradient<Real> &d) {
  const Shape &s = given.call.shape;
  const WholeSumGradient<Real> whole{{in, s.T, s.Dv, given.call.v}, given.d.o, d.q, d.k, given.d.v};
  if (run_whole(label, given.call, in, whole)) return;
  if (in.alpha.extent(0) && in.lambda.extent(0)) {
    const BothGates<Real> both(*given.call.arena, in.alpha, in.lambda, d.alpha, d.lambda, in.width);
    GatedRecurrenceGradient<Real> own = d;
    in.alpha = {}, in.lambda = both.lambda, own.alpha = {}, own.lambda = both.d_lambda;
    gated_recurrence_vjp(label, given, in, own);
    return both.differentiate();
  }
  if constexpr (std::is_same<Real, float>::value)
    if (run_static(label, given, in, d)) return;
  BackwardCall<Real> back = given;
  if (in.lambda.extent(0)) back.call.chunk = std::min(back.call.chunk, ChannelGradient<Real>::most);
  const Call<Real> &call = back.call;
  if (!in.normalised)
    return gated_recurrence_back(label, back, in, d, gated_recurrence_chunk_states(label, call, in, false), back.d.o);
  const Array<Real> weights = allocate(call, call.steps()), d_sum = allocate(call, call.o.extent(0));
  const ChunkStates<Real> starts = gated_recurrence_chunk_states(label, call, in, true, weights);
  differentiate_division(back, in.floor, d.floor, weights, d_sum, s.Dv);
  gated_recurrence_back(label, back, in, d, starts, d_sum, weights);
}

template ChunkStates<float> gated_recurrence_chunk_states(const std::string &, const Call<float> &,
                                                          const GatedRecurrence<float> &, bool, const Array<float> &);
template ChunkStates<double> gated_recurrence_chunk_states(const std::string &, const Call<double> &,
                                                           const GatedRecurrence<double> &, bool,
                                                           const Array<double> &);
template void gated_recurrence_back(const std::string &, const BackwardCall<float> &, const GatedRecurrence<float> &,
                                    const GatedRecurrenceGradient<float> &, const ChunkStates<float> &,
                                    const Array<float> &, const Array<float> &);
template void gated_recurrence_back(const std::string &, const BackwardCall<double> &, const GatedRecurrence<double> &,
                                    const GatedRecurrenceGradient<double> &, const ChunkStates<double> &,
                                    const Array<double> &, const Array<double> &);
template void gated_recurrence_vjp(const std::string &, const BackwardCall<float> &, GatedRecurrence<float>,
                                   const GatedRecurrenceGradient<float> &);
template void gated_recurrence_vjp(const std::string &, const BackwardCall<double> &, GatedRecurrence<double>,
                                   const GatedRecurrenceGradient<double> &);

} // namespace recollect::variants
