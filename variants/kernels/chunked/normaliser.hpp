// SPDX-License-Identifier: Apache-2.0
// The division of a normalised sum (gated_recurrence.hpp) and its derivative: o = sum / divisor. The divisor is the
// weight, scale z_t . q_t, or, with a floor, max(|weight|, floor). Kernels that do not compute z_t compute the weight
// as one more value channel: its values are 1 at every step (PaddedRows), and its row of the state is z_t.
#pragma once
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/gated_recurrence.hpp"

namespace recollect::variants {

/// Divides sums [B,H,T,width], whose column Dv is the weight, and writes the quotients to call.o. Also writes the
/// weights to `weights`, unless that array is empty.
template <class Real>
void divide(const Call<Real> &call, const Array<Real> &sums, int width, const Array<Real> &floor,
            const Array<Real> &weights) {
  const int V = call.shape.Dv;
  const Array<Real> o = call.o;
  each_row(
      "gated_recurrence::division", int(call.steps()), V, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real *const own = sums.data() + size_t(t) * width, weight = own[V],
                          divisor = floor.extent(0) ? math::fmax(math::fabs(weight), floor(t)) : weight;
        for (int i = first; i < V; i += side) o(size_t(t) * V + i) = weighted_mean(own[i], divisor);
        if (first == 0 && weights.extent(0)) weights(t) = weight;
      });
}

/// Writes the gradients of the sums to d_sum [B,H,T,width], and replaces the weights by their gradients. call.o has the
/// outputs. If width > Dv, column Dv of d_sum is the gradient of the weight, and zeros follow.
template <class Real>
void differentiate_division(const BackwardCall<Real> &back, const Array<Real> &floor, const Array<Real> &d_floor,
                            const Array<Real> &weights, const Array<Real> &d_sum, int width) {
  const int V = back.call.shape.Dv;
  const Array<Real> o = back.call.o, given = back.d.o;
  each_row(
      "gated_recurrence::d_division", int(weights.extent(0)), V, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real weight = weights(t), *own = given.data() + size_t(t) * V;
        const bool limited = floor.extent(0) && floor(t) > math::fabs(weight);
        const Real divisor = limited ? floor(t) : floor.extent(0) ? math::fabs(weight) : weight;
        const Real along = row_dot(own, o.data() + size_t(t) * V, V, first, side);
        const Real slope = divisor == 0 ? Real(0) : -along / divisor; // derivative with respect to the divisor
        const Real in_weight = limited ? Real(0) : floor.extent(0) && weight < 0 ? -slope : slope;
        Real *const out = d_sum.data() + size_t(t) * width;
        for (int i = first; i < V; i += side) out[i] = divisor == 0 ? Real(0) : own[i] / divisor;
        for (int i = V + first; i < width; i += side) out[i] = i == V ? in_weight : Real(0);
        if (first) return;
        weights(t) = in_weight;
        if (d_floor.extent(0)) d_floor(t) = limited ? slope : Real(0);
      });
}

} // namespace recollect::variants
