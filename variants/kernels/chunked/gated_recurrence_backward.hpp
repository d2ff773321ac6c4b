// SPDX-License-Identifier: Apache-2.0
// Gradients of gated_recurrence.hpp's sum, chunk by chunk. A chunk starts in S_0 and ends in S_C, both [F,V] here. Its
// weights are A_ti = scale q_t . D(t,i) k_i strength_i. Given dO and dS_C:
//
//   dA_ti = scale D(t,i) strength_i (do_t . v_i)        dS_0 = sum_t (scale D(t,0) q_t) do_t^T + D(C,0) dS_C
//   dq_t  = scale D(t,0) S_0 do_t + sum_{i<=t} dA_ti k_i
//   dk_i  = strength_i D(C,i) dS_C v_i + sum_{t>=i} dA_ti q_t
//   dv_i  = sum_{t>=i} A_ti do_t + dS_C^T strength_i D(C,i) k_i
//
// d strength_i is k_i . (dk_i without its factor strength_i). The decays' gradients are in gate_gradient.hpp. With one
// decay per channel, chunks have only a few steps, and dq, dk and the decays' gradients are computed as in
// channel_gradient.hpp.
#pragma once
#include "harness/device/chunk_states.hpp"
#include "variants/kernels/chunked/gated_recurrence.hpp"

namespace recollect::variants {

/// Where to write the gradients. The gradient of an empty array is not computed; q and k are required. If channels
/// decay, there is no strength.
template <class Real> struct GatedRecurrenceGradient {
  Array<Real> q, k, alpha = {}, strength = {}, floor = {}, lambda = {}, bonus = {};
};

/// Gradients of gated_recurrence(back.call): writes back.d.v, back.d.state and the arrays of d.
template <class Real>
void gated_recurrence_vjp(const std::string &label, const BackwardCall<Real> &given, GatedRecurrence<Real> in,
                          const GatedRecurrenceGradient<Real> &d);

// gated_recurrence_vjp() in two calls, for a layer whose loss depends on more than the outputs:

/// First call: returns the states at the chunks' starts. If `reads`, it also writes the outputs to call.o and scale z_t
/// . q_t to `weights`.
template <class Real>
ChunkStates<Real> gated_recurrence_chunk_states(const std::string &label, const Call<Real> &call,
                                                const GatedRecurrence<Real> &in, bool reads,
                                                const Array<Real> &weights = {});
/// Second call: from d_o (gradient of the sum), d_weight (gradient of scale z_t . q_t) and back.d.state, computes
/// back.d.v, back.d.state and the arrays of d.
template <class Real>
void gated_recurrence_back(const std::string &label, const BackwardCall<Real> &back, const GatedRecurrence<Real> &in,
                           const GatedRecurrenceGradient<Real> &d, const ChunkStates<Real> &starts,
                           const Array<Real> &d_o, const Array<Real> &d_weight = {});

} // namespace recollect::variants
