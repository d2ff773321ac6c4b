// SPDX-License-Identifier: Apache-2.0
// Linear states whose outputs are weighted means. The state is S [V,F] and, as one more row, the running normaliser z
// [F], which is updated like a row of S with the value 1. Outputs are o_t = S_t q_t / (z_t . q_t).
#pragma once
#include "variants/kernels/chunked/gated_recurrence.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

template <class Real, class Step> struct NormalisedRows {
  int columns; // columns of the state
  Step step;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    Real *read = h.work; // [Dv+1]
    const Step update = step;
    const int F = columns;
    for (int t = 0; t < h.T; ++t) {
      each(team, h.Dv + 1,
           [=](int i) { read[i] = update(h, t, i < h.Dv ? h.v(t)[i] : Real(1), h.state + size_t(i) * F); });
      team.barrier();
      each(team, h.Dv, [=](int i) { h.o(t)[i] = weighted_mean(read[i], read[h.Dv]); });
      team.barrier();
    }
  }
};

/// Recurrent form. The variant supplies step(head, t, v, s), which updates row s of the state with the value v and
/// returns that row's read.
template <class Real, class Step>
void normalised_rows(const std::string &label, const Call<Real> &call, const Step &step) {
  each_head(label, call, call.shape.Dv + 1, NormalisedRows<Real, Step>{call.state_shape.columns, step});
}

} // namespace recollect::variants
