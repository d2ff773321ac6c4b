// SPDX-License-Identifier: Apache-2.0
// Gradients of delta_rule.hpp's rule with one sub-step per token, at most one decay for all channels, and values
// written along p_t. A chunk starts in S_0 and ends in S_C, both [F,V] here. The e_t are the errors of delta_rule.hpp,
// A_ti = q_t . D(t,i) p_i and L_ti = erase_t r_t . D(t-1,i) p_i. Given dO and dS_C:
//
//   dE = A^T dO + (D(C,i) p_i) dS_C,   (I + L)^T dY = dE
//   dS_0 = sum_t (D(t,0) q_t) do_t^T - sum_t (erase_t D(t-1,0) r_t) dy_t^T + D(C,0) dS_C
//   dv_t = write_t dy_t,   d write_t = v_t . dy_t
//   dq_t = D(t,0) S_0 do_t + sum_{i<=t} [D(t,i) do_t . e_i] p_i
//   x_t  = - D(t-1,0) S_0 dy_t - sum_{i<t} [D(t-1,i) dy_t . e_i] p_i,   d erase_t = r_t . x_t,   dr_t = erase_t x_t
//   dp_i = D(C,i) dS_C e_i + sum_{t>=i} [D(t,i) do_t . e_i] q_t - sum_{t>i} [D(t-1,i) dy_t . e_i] erase_t r_t
//
// The decays' gradients are in gate_gradient.hpp. Query q_t reads the state after step t, and r_t reads the state
// before step t.
#pragma once
#include "harness/device/chunk_states.hpp"
#include "variants/kernels/chunked/delta_rule.hpp"

namespace recollect::variants {

/// Where to write the gradients. The gradient of an empty array is not computed; q and p are required. If r has no
/// array, the rule reads and writes with one key, and the gradient of r is added to the gradient of p.
template <class Real> struct DeltaRuleGradient {
  Array<Real> q, p, erase = {}, write = {}, alpha = {}, r = {}, lambda = {}, keys = {};
};

/// Gradients of delta_rule(back.call): writes back.d.v, back.d.state and the arrays of d. If channels decay, the
/// gradients are computed step by step (delta_rule_backward_steps.hpp). It is a logic error if the rule has sub-steps,
/// or if it has separate write keys and no lambda.
template <class Real>
void delta_rule_vjp(const std::string &label, const BackwardCall<Real> &back, const DeltaRule<Real> &in,
                    const DeltaRuleGradient<Real> &d);

/// The states at the starts of delta_rule(call)'s chunks, for any rule, in the layer's layout [Dv,Dk].
template <class Real>
ChunkStates<Real> delta_rule_chunk_states(const std::string &label, const Call<Real> &call, const DeltaRule<Real> &in);

} // namespace recollect::variants
