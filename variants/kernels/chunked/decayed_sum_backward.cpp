// SPDX-License-Identifier: Apache-2.0
// The backward pass runs the algebras of decayed_sum_backward_algebra.hpp after a forward pass that saves the T / C states
// at the chunks' starts.
#include "variants/kernels/chunked/backward.hpp"
#include "variants/kernels/chunked/both_gates.hpp"
#include "variants/kernels/chunked/decayed_sum_backward_algebra.hpp"
#include "variants/kernels/chunked/normaliser.hpp"
#include "variants/kernels/chunked/single_block.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

template <class Real>
ChunkStates<Real> decayed_sum_chunk_states(const std::string &label, const Call<Real> &call, const DecayedSum<Real> &in,
                                           bool reads, const Array<Real> &weights) {
  const Shape &s = call.shape;
  const DecayedSumAlgebra<Real> forward{
      {in, s.T, call.chunk, s.Dv, call.state, call.state_shape.size()}, call.v, call.o, weights};
  const ChunkStates<Real> starts(call, forward);
  run_chunks(label + "::chunk_states", call, DecayedSumSaving<Real>{forward, starts, reads});
  return starts;
}

template <class Real>
void decayed_sum_back(const std::string &label, const BackwardCall<Real> &back, const DecayedSum<Real> &in,
                      const DecayedSumGradient<Real> &d, const ChunkStates<Real> &starts, const Array<Real> &d_o,
                      const Array<Real> &d_weight) {
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  run_chunks(label, call,
             DecayedSumAdjoint<Real>{{in, s.T, call.chunk, s.Dv, back.d.state, call.state_shape.size()},
                                     d,
                                     call.v,
                                     d_o,
                                     back.d.v,
                                     starts,
                                     d_weight},
             true);
}

template <class Real>
void decayed_sum_vjp(const std::string &label, const BackwardCall<Real> &given, DecayedSum<Real> in,
                     const DecayedSumGradient<Real> &d) {
  const Shape &s = given.call.shape;
  const WholeSumGradient<Real> whole{{in, s.T, s.Dv, given.call.v}, given.d.o, d.q, d.k, given.d.v};
  if (run_whole(label, given.call, in, whole)) return;
  if (in.alpha.extent(0) && in.lambda.extent(0)) {
    const BothGates<Real> both(*given.call.arena, in.alpha, in.lambda, d.alpha, d.lambda, in.width);
    DecayedSumGradient<Real> own = d;
    in.alpha = {}, in.lambda = both.lambda, own.alpha = {}, own.lambda = both.d_lambda;
    decayed_sum_vjp(label, given, in, own);
    return both.differentiate();
  }
  if constexpr (std::is_same<Real, float>::value)
    if (run_static(label, given, in, d)) return;
  BackwardCall<Real> back = given;
  if (in.lambda.extent(0)) back.call.chunk = std::min(back.call.chunk, ChannelGradient<Real>::most);
  const Call<Real> &call = back.call;
  if (!in.normalised)
    return decayed_sum_back(label, back, in, d, decayed_sum_chunk_states(label, call, in, false), back.d.o);
  const Array<Real> weights = allocate(call, call.steps()), d_sum = allocate(call, call.o.extent(0));
  const ChunkStates<Real> starts = decayed_sum_chunk_states(label, call, in, true, weights);
  differentiate_division(back, in.floor, d.floor, weights, d_sum, s.Dv);
  decayed_sum_back(label, back, in, d, starts, d_sum, weights);
}

template ChunkStates<float> decayed_sum_chunk_states(const std::string &, const Call<float> &,
                                                     const DecayedSum<float> &, bool, const Array<float> &);
template ChunkStates<double> decayed_sum_chunk_states(const std::string &, const Call<double> &,
                                                      const DecayedSum<double> &, bool, const Array<double> &);
template void decayed_sum_back(const std::string &, const BackwardCall<float> &, const DecayedSum<float> &,
                               const DecayedSumGradient<float> &, const ChunkStates<float> &, const Array<float> &,
                               const Array<float> &);
template void decayed_sum_back(const std::string &, const BackwardCall<double> &, const DecayedSum<double> &,
                               const DecayedSumGradient<double> &, const ChunkStates<double> &, const Array<double> &,
                               const Array<double> &);
template void decayed_sum_vjp(const std::string &, const BackwardCall<float> &, DecayedSum<float>,
                              const DecayedSumGradient<float> &);
template void decayed_sum_vjp(const std::string &, const BackwardCall<double> &, DecayedSum<double>,
                              const DecayedSumGradient<double> &);

} // namespace recollect::variants
