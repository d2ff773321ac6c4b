// SPDX-License-Identifier: Apache-2.0
// The recurrent form of every layer whose state rows do not mix: each row of S [Dv,Dk] follows its own recurrence over
// t, without a barrier. A variant supplies step(head, t, i, s), which updates row i of S, at `s`, with v_t[i] and
// returns o_t[i].
//
// On a GPU a team computes 32 rows, one per thread, and keeps them in scratch memory for the whole sequence. So the
// state is read from device memory once, with coalesced accesses, instead of at every step with a stride.
#pragma once
#include "harness/device/tile/tile.hpp"

namespace recollect::variants {

template <class Real, class Step> struct RowRecurrence {
  HeadArrays<Real> arrays;
  int columns, together, teams; // columns: of the state; together: rows per team; teams: per head
  bool in_place;
  Step step;

  KOKKOS_FUNCTION static std::ptrdiff_t pitch(int columns) {
    return columns | 1;
  } // odd, so that 32 rows start in 32 banks
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *scratch) const {
    const Head<Real> head = arrays.head(unit / teams);
    const int first = int(unit % teams) * together, n = head.Dv - first < together ? head.Dv - first : together;
    Real *const rows = head.state + size_t(first) * columns, *const S = in_place ? rows : scratch;
    const std::ptrdiff_t ld = in_place ? columns : pitch(columns);
    if (!in_place) tile::copy<Real>(team, n, columns, rows, columns, S, ld);
    team.barrier();
    each(team, n, [&](int i) {
      for (int t = 0; t < head.T; ++t) head.o(t)[first + i] = step(head, t, first + i, S + i * ld);
    });
    team.barrier();
    if (!in_place) tile::copy<Real>(team, n, columns, S, ld, rows, columns);
  }
};

template <class Real, class Step>
void recurrent_rows(const std::string &label, const Call<Real> &call, const Step &step) {
  const int columns = call.state_shape.columns, Dv = call.shape.Dv, together = on_host ? Dv : 32,
            teams = (Dv - 1) / together + 1;
  const bool in_place = on_host || call.state_shape.rows != Dv; // a step may need state rows that are not in S
  using Rows = RowRecurrence<Real, Step>;
  run<Real>({label, call.shape.heads() * teams, together, call.math}, *call.arena,
            in_place ? 0 : together * Rows::pitch(columns),
            Rows{HeadArrays<Real>(call), columns, together, teams, in_place, step});
}

} // namespace recollect::variants
