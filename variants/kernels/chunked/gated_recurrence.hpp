// SPDX-License-Identifier: Apache-2.0
// Chunked form of every linear state without an erase term:
//
//   S_t = S_{t-1} diag(decay_t) + strength_t v_t k_t^T,   o_t = scale S_t q_t,   decay_t = alpha_t lambda_t
//
// Decays may be one number per step (alpha_t), one per step and key channel (lambda_t), or the product of both. Here q
// and k are features of any width F (phi already applied). For a chunk that starts in state S_0, with D(t,i) as in
// decays.hpp, and with strength_i included in v_i:
//
//   o_t = scale (S_0 D(t,0) q_t + sum_{i<=t} [q_t . D(t,i) k_i] v_i),   S_C = S_0 D(C,0) + sum_i v_i (D(C,i) k_i)^T
//
// With a bonus u_t the layer reads before it writes (RWKV-6): o_t = scale (S_{t-1} + v_t (u_t k_t)^T) q_t. Then the
// weight of a pair i < t has D(t-1,i) in place of D(t,i), and the weight of a step with itself is q_t . u_t k_t.
//
// If normalised, a vector z_t follows the recurrence of S_t with 1 in place of v_t, and o_t is divided by the weight
// scale z_t . q_t. With a floor, o_t is divided by max(|scale z_t . q_t|, floor_t).
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

template <class Real> struct GatedRecurrence {
  int width;          // F, columns of S
  Array<Real> q, k;   // [B,H,T,F]
  Array<Real> alpha;  // [B,H,T], empty: 1
  Array<Real> lambda; // [B,H,T,F], empty: 1
  Real scale = 1;
  Array<Real> bonus = {}; // [B,H,T,F] u, only with lambda; empty: a step writes before it reads
  bool normalised = false;
  Array<Real> strength = {}, floor = {}; // [B,H,T]; empty: strength 1, no floor
};

/// sum / weight, or 0 if the weight is 0.
template <class Real> KOKKOS_FUNCTION Real weighted_mean(Real sum, Real weight) {
  return weight == 0 ? Real(0) : sum / weight;
}

/// Runs the sum from call.state, whose rows are S [Dv,F] and, if normalised, z. Leaves the final state in call.state,
/// and writes call.o.
template <class Real>
void gated_recurrence(const std::string &label, const Call<Real> &call, const GatedRecurrence<Real> &in);

} // namespace recollect::variants
