// SPDX-License-Identifier: Apache-2.0
// Linear states read as a weighted mean: beside S [V,F] a running normaliser z [F], one more row of the state that is
// written with the value 1. Outputs are o_t = S_t q_t / (z_t . q_t).
#pragma once
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/decayed_sum.hpp"

namespace recollect::variants {

/// sum / weight, and 0 where nothing has any weight yet.
template <class Real> KOKKOS_FUNCTION Real weighted_mean(Real sum, Real weight) {
  return weight == 0 ? Real(0) : sum / weight;
}

template <class Real, class Step> struct NormalisedRows {
  int columns; // of the state
  Step step;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    Real *read = h.work; // [Dv+1]
    const Step update = step;
    const int F = columns;
    for (int t = 0; t < h.T; ++t) {
      each(team, h.Dv + 1,
           [=](int i) { read[i] = update(h, t, i < h.Dv ? h.v(t)[i] : Real(1), h.state + size_t(i) * F); });
      team.team_barrier();
      each(team, h.Dv, [=](int i) { h.o(t)[i] = weighted_mean(read[i], read[h.Dv]); });
      team.team_barrier();
    }
  }
};

/// Recurrent form. The variant supplies step(head, t, v, s): update the state's row s with the value v and return its
/// read.
template <class Real, class Step>
void normalised_rows(const std::string &label, const Call<Real> &call, const Step &step) {
  each_head(label, call, call.shape.Dv + 1, NormalisedRows<Real, Step>{call.state_shape.columns, step});
}

/// Chunked form: v_t strength_t, and strength_t itself as value Dv, summed by `in`, then divided by max(|z . q|,
/// floor_t) where there is a floor, by z . q where there is none. strength and floor are [B,H,T] or empty.
template <class Real>
void normalised_sum(const std::string &label, const Call<Real> &call, DecayedSum<Real> in,
                    const Array<Real> &strength = {}, const Array<Real> &floor = {}) {
  const int Dv = call.shape.Dv, V = Dv + 1;
  const size_t steps = call.shape.heads() * call.shape.T;
  const Array<Real> values = allocate<Real>("values", steps * V), sums = allocate<Real>("sums", steps * V), v = call.v,
                    o = call.o;
  const bool strengths = strength.extent(0), floors = floor.extent(0);
  Kokkos::parallel_for(
      label + "::values", Kokkos::RangePolicy<Execution>(0, steps), KOKKOS_LAMBDA(const size_t t) {
        const Real factor = strengths ? strength(t) : Real(1);
        for (int i = 0; i < Dv; ++i) values(t * V + i) = factor * v(t * Dv + i);
        values(t * V + Dv) = factor;
      });
  in.values = V, in.v = values, in.o = sums;
  decayed_sum(label, call, in);
  Kokkos::parallel_for(
      label + "::divide", Kokkos::RangePolicy<Execution>(0, steps), KOKKOS_LAMBDA(const size_t t) {
        const Real weight = sums(t * V + Dv), divisor = floors ? math::fmax(math::fabs(weight), floor(t)) : weight;
        for (int i = 0; i < Dv; ++i) o(t * Dv + i) = weighted_mean(sums(t * V + i), divisor);
      });
}

} // namespace recollect::variants
