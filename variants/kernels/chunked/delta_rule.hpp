// SPDX-License-Identifier: Apache-2.0
// Chunked form of the whole delta family, in WY (UT) form (after Yang et al. 2024, arXiv:2406.06484, 2412.06464; 000
// Eq 96-98).
//
// A token is one or more sub-steps. A sub-step t is a decay, a rank-one erasure and a rank-one write:
//
//   S_t = S_{t-1} D_t + e_t p_t^T,   e_t = write_t v_t - erase_t S_{t-1} r_t
//
// D_t is diagonal, r_t is the key along which the state is read, and p_t the key along which e_t is written.
//
// Let a chunk of C sub-steps start in S_0, and let D(t,i) be the product of the decays of sub-steps i+1 ... t. The e_t
// solve a unit lower triangular system. Given the e_t, outputs and the final state are matrix products:
//
//   e_t + erase_t sum_{i<t} [r_t . D(t-1,i) p_i] e_i = write_t v_t - erase_t S_0 D(t-1,0) r_t
//   o_t = S_0 D(t,0) q_t + sum_{i<=t} [q_t . D(t,i) p_i] e_i,    S_C = S_0 D(C,0) + sum_i e_i (D(C,i) p_i)^T
//
// If `keys` are given, v_t is written along k_t instead of p_t (RWKV-7): S_t = S_{t-1} D_t + e_t p_t^T + v_t k_t^T with
// e_t = - erase_t S_{t-1} r_t. The write of v_i then has the weight r_t . D(t-1,i) k_i in the system, and q_t . D(t,i)
// k_i in the outputs. These weights do not depend on e_t.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

template <class Real> struct DeltaRule {
  int steps = 1;             // sub-steps per token
  Array<Real> r, p;          // [B,H,T * steps,Dk]
  Array<Real> erase, write;  // [B,H,T * steps], empty: 1
  Array<Real> alpha, lambda; // [B,H,T * steps] or [B,H,T * steps,Dk], the diagonal of D_t; both empty: D_t = 1
  Array<Real> keys = {};     // [B,H,T,Dk] k_t, the key of v_t's write; empty: p_t, in every sub-step
};

/// Runs the rule from call.state, whose first Dv rows are S [Dv,Dk], and leaves the final state in call.state. Reads
/// call.q and call.v, and writes call.o.
template <class Real> void delta_rule(const std::string &label, const Call<Real> &call, const DeltaRule<Real> &in);

} // namespace recollect::variants
