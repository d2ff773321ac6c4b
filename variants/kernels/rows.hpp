// SPDX-License-Identifier: Apache-2.0
// The recurrent form of every layer whose state rows do not mix: each row of S [Dv,Dk] runs its own recurrence over t,
// with no barrier. A variant supplies step(head, t, i, s): update row s of S from v_t[i] and return o_t[i].
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

template <class Real, class Step> struct RowRecurrence {
  int columns; // of the state
  Step step;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &head) const {
    each(team, head.Dv, [&](int i) {
      Real *s = head.state + size_t(i) * columns;
      for (int t = 0; t < head.T; ++t) head.o(t)[i] = step(head, t, i, s);
    });
  }
};

template <class Real, class Step>
void recurrent_rows(const std::string &label, const Call<Real> &call, const Step &step) {
  each_head(label, call, 0, RowRecurrence<Real, Step>{call.state_shape.columns, step});
}

} // namespace recollect::variants
