// SPDX-License-Identifier: Apache-2.0
// The gates of slots that keep weighted means (abc.cpp). With z_t = log sum_{i<=t} e^{w_i}, a slot multiplies its
// content by lambda_t = e^{z_{t-1} - z_t}, and adds the new key and value with the weight 1 - lambda_t = e^{w_t - z_t}.
// One thread computes all steps of one slot.
#pragma once
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

constexpr double no_weights = -1e30; // z before the first step: e^z is 0

/// Returns the equivalent call of gated slot attention: its lambda is lambda_t, its w is 1 - lambda_t. The first z is
/// row Dv + Dk of each head's state; if `advance`, the last z is written to this row.
template <class Real> Call<Real> gated_by_means(const Call<Real> &call, bool advance) {
  Call<Real> out = call;
  out.lambda = allocate(call, call.w.extent(0)), out.w = allocate(call, call.w.extent(0));
  out.given = {"lambda", "w"};
  const HeadArrays<Real> arrays(call);
  const Array<Real> keeps = out.lambda, adds = out.w;
  parallel_loop(
      "mean_gates", call.shape.heads() * call.shape.Dk, KOKKOS_LAMBDA(const size_t i) {
        const int Dk = arrays.Dk, m = int(i % Dk);
        const Head<Real> h = arrays.head(i / Dk);
        Real *const last = h.state + size_t(h.Dv + Dk) * Dk + m, z = *last;
        for (int t = 0; t < h.T; ++t) {
          const size_t at = (h.index * h.T + t) * Dk + m;
          const Real w = h.w(t)[m];
          const bool more = w > z; // w exceeds z, the log of the sum of all earlier weights
          const Real share = math::exp(more ? z - w : w - z), sum = 1 + share;
          keeps(at) = (more ? share : Real(1)) / sum, adds(at) = (more ? Real(1) : share) / sum;
          z = (more ? w : z) + math::log(sum);
        }
        if (advance) *last = z;
      });
  return out;
}

/// From the gradients of lambda_t and 1 - lambda_t (slots.d.lambda, slots.d.w) and of the last z (in back.d.state),
/// computes the gradients of w and of the first z. The gate lambda_t is the sigmoid of z_{t-1} - w_t, and 1 - lambda_t
/// is the sigmoid of w_t - z_{t-1}.
template <class Real> void mean_gates_vjp(const BackwardCall<Real> &back, const BackwardCall<Real> &slots) {
  const HeadArrays<Real> arrays(back.call);
  const Array<Real> keeps = slots.call.lambda, adds = slots.call.w, d_keeps = slots.d.lambda, d_adds = slots.d.w,
                    d_w = back.d.w, d_state = back.d.state;
  parallel_loop(
      "mean_gates::backward", back.call.shape.heads() * back.call.shape.Dk, KOKKOS_LAMBDA(const size_t i) {
        const size_t Dk = arrays.Dk, head = i / Dk, m = i % Dk;
        Real &d_z = d_state(head * arrays.state_size + (arrays.Dv + Dk) * Dk + m);
        for (int t = arrays.T - 1; t >= 0; --t) {
          const size_t at = (head * arrays.T + t) * Dk + m;
          const Real by_gates = keeps(at) * adds(at) * (d_keeps(at) - d_adds(at));
          d_w(at) = adds(at) * d_z - by_gates;
          d_z = keeps(at) * d_z + by_gates;
        }
      });
}

} // namespace recollect::variants
