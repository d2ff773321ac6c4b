// SPDX-License-Identifier: Apache-2.0
// The backward pass runs the algebras of decayed_sum_backward_algebra.hpp after a forward pass that saves the T / C states
// at the chunks' starts.
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/backward.hpp"
#include "variants/kernels/chunked/both_gates.hpp"
#include "variants/kernels/chunked/decayed_sum_backward_algebra.hpp"
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

/// o = sum / divisor, where divisor = weight, or max(|weight|, floor) with a floor. Turns do into the gradient of the
/// sum, and computes the gradient of the weights.
template <class Real>
void divided(const BackwardCall<Real> &back, const Array<Real> &floor, const Array<Real> &d_floor,
             const Array<Real> &weights, const Array<Real> &d_sum) {
  const int V = back.call.shape.Dv;
  const Array<Real> o = back.call.o, given = back.d.o;
  each_row(
      "decayed_sum::divided", int(weights.extent(0)), V, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real weight = weights(t), *own = given.data() + size_t(t) * V;
        const bool limited = floor.extent(0) && floor(t) > math::fabs(weight);
        const Real divisor = limited ? floor(t) : floor.extent(0) ? math::fabs(weight) : weight;
        const Real along = row_dot(own, o.data() + size_t(t) * V, V, first, side);
        const Real slope = divisor == 0 ? Real(0) : -along / divisor; // derivative with respect to the divisor
        for (int i = first; i < V; i += side) d_sum(size_t(t) * V + i) = divisor == 0 ? Real(0) : own[i] / divisor;
        if (first) return;
        weights(t) = limited ? Real(0) : floor.extent(0) && weight < 0 ? -slope : slope;
        if (d_floor.extent(0)) d_floor(t) = limited ? slope : Real(0);
      });
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
  divided(back, in.floor, d.floor, weights, d_sum);
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
