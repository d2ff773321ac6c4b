// SPDX-License-Identifier: Apache-2.0
// Chunked scan of element-wise recurrences. Every element (row, column) of the state has its own decay, so no matrix
// product can advance the state by a chunk: s_t = decay_t s_{t-1} + write_t, o_t = sum over columns of read_t s_t.
//
// Pairs (decay, write) compose associatively (Blelloch 1990; Mamba, Gu and Dao 2023). So a chunk is summarised by the
// end state that it reaches from zero, and by the product of its decays. Decays are multiplied; their logarithms are
// never added. The output phase computes the states of all steps of a chunk, so the streaming schedule needs no other
// phase. A CPU always uses the streaming schedule, and its threads process rows of the state independently.
#pragma once
#include "harness/device/engine.hpp"

namespace recollect::variants {

/// A state whose elements advance by a chunk independently of each other.
template <class Number> struct ScanState {
  using Real = Number;
  static constexpr bool elementwise = true;
  HeadArrays<Real> arrays;
  int columns;
  int first = 0, rows = arrays.Dv; // the state's rows that this algebra handles

  struct Summary {
    Real *end, *decay; // [V,columns] end: end state from a zero start; decay: product of the decays
  };
  static constexpr int grain = 64 / sizeof(Real); // rows per part on a CPU: their outputs fill a cache line
  KOKKOS_FUNCTION size_t state_size() const { return size_t(rows) * columns; }
  int parts() const { return (arrays.Dv - 1) / grain + 1; }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const { return {s.take(state_size()), s.take(state_size())}; }
  KOKKOS_FUNCTION Affine<Real> affine(const Summary &chunk, size_t at) const {
    return {chunk.decay[at], chunk.end[at]};
  }
};

/// Rule supplies at(head, t, i). The object that it returns describes row i of the state at step t: its members
/// decay(j), write(j) and read(j) are the coefficients of column j.
template <class Number, class Rule> struct ScanAlgebra : ScanState<Number> {
  using Real = Number;
  using State = ScanState<Real>;
  using State::arrays, State::columns, State::first, State::rows, State::state_size;
  using typename State::Summary;
  static constexpr bool carries_by_reading = true;
  static constexpr bool fetches = false;
  Rule rule;

  struct Summarising {};
  struct Carrying {};
  struct Reading {
    Real *running; // [V,columns]
  };
  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &) const { return {}; }
  KOKKOS_FUNCTION Carrying carrying(Stack<Real> &) const { return {}; }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const { return {s.take(state_size())}; }

  KOKKOS_FUNCTION void narrow(const Part &part) {
    first = part.begin(arrays.Dv, State::grain), rows = part.end(arrays.Dv, State::grain) - first;
  }
  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *state) const {
    copy(team, state_size(), own(arrays.head(head).state), state);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *state) const {
    copy(team, state_size(), state, own(arrays.head(head).state));
  }

  RECOLLECT_IN_LINE void chunk_local(const Team &team, const Chunk &c, const Summary &out, const Summarising &) const {
    const Head<Real> h = arrays.head(c.head);
    const Rule step = rule;
    const int F = columns;
    if constexpr (on_host) return; // a CPU uses the streaming schedule
    if (F > 1) {
      each_patch(team, [=](int i0, int j0, int side) {
        Real end[patch_rows][patch_columns] = {}, decay[patch_rows][patch_columns];
        RECOLLECT_UNROLL
        for (int r = 0; r < patch_rows; ++r)
          for (int c = 0; c < patch_columns; ++c) decay[r][c] = 1;
        for (int t = c.first; t < c.first + c.n; ++t) {
          RECOLLECT_UNROLL
          for (int r = 0; r < patch_rows; ++r) {
            const auto row = step.at(h, t, i0 + r < h.Dv ? i0 + r : i0);
            RECOLLECT_UNROLL
            for (int l = 0; l < patch_columns; ++l) {
              const int j = j0 + l * side < F ? j0 + l * side : F - 1;
              const Real d = row.decay(j);
              end[r][l] = d * end[r][l] + row.write(j), decay[r][l] *= d;
            }
          }
        }
        RECOLLECT_UNROLL
        for (int r = 0; r < patch_rows; ++r)
          for (int l = 0; l < patch_columns; ++l)
            if (const size_t at = size_t(i0 + r) * F + j0 + l * side; i0 + r < h.Dv && j0 + l * side < F)
              out.end[at] = end[r][l], out.decay[at] = decay[r][l];
      });
      return;
    }
    each(team, h.Dv, [=](int i) {
      Real end = 0, decay = 1;
      for (int t = c.first; t < c.first + c.n; ++t) {
        const auto cell = step.at(h, t, i);
        const Real d = cell.decay(0);
        end = d * end + cell.write(0), decay *= d;
      }
      out.end[i] = end, out.decay[i] = decay;
    });
  }

  /// Computes the chunk's outputs. If `after` is not null, it receives the state at the chunk's end.
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &, const Real *before,
                                      Real *after, const Reading &x) const {
    const Head<Real> h = arrays.head(c.head);
    const Rule step = rule;
    Real *const s = after ? after : x.running;
    copy(team, state_size(), before, s);
    team.barrier();
    const int F = columns, first = this->first;
    if (F == 1) {
      each_bundle(team, [=](int i, auto count) {
        Real state[bundle];
        for (int l = 0; l < count; ++l) state[l] = s[i + l];
        for (int t = c.first; t < c.first + c.n; ++t)
          for (int l = 0; l < count; ++l) {
            const auto cell = step.at(h, t, first + i + l);
            state[l] = cell.decay(0) * state[l] + cell.write(0);
            h.o(t)[first + i + l] = cell.read(0) * state[l];
          }
        for (int l = 0; l < count; ++l) s[i + l] = state[l];
      });
      return;
    }
    if constexpr (
        !on_host) { // a thread's contributions to `together` outputs are summed over the row of threads at once
      constexpr int together = 32, steps = together / patch_rows;
      each_patch(team, [=](int i0, int j0, int side) {
        Real state[patch_rows][patch_columns];
        const auto cell = [&](int r, int l) -> Real * {
          const int j = j0 + l * side;
          return i0 + r < h.Dv && j < F ? s + size_t(i0 + r) * F + j : nullptr;
        };
        RECOLLECT_UNROLL
        for (int r = 0; r < patch_rows; ++r)
          for (int l = 0; l < patch_columns; ++l) state[r][l] = cell(r, l) ? *cell(r, l) : Real(0);
        const int end = c.first + c.n, lane = j0 % side;
        for (int t0 = c.first; t0 < end; t0 += steps) {
          Real sums[together];
          RECOLLECT_UNROLL
          for (int q = 0; q < together; ++q) {
            const int place = q / patch_rows, r = q % patch_rows, t = t0 + place < end ? t0 + place : end - 1;
            const auto row = step.at(h, t, i0 + r < h.Dv ? i0 + r : i0);
            Real sum = 0;
            RECOLLECT_UNROLL
            for (int l = 0; l < patch_columns; ++l) {
              const int j = j0 + l * side < F ? j0 + l * side : F - 1;
              const Real next = row.decay(j) * state[r][l] + row.write(j);
              if (t0 + place < end) state[r][l] = next;
              sum += j0 + l * side < F ? row.read(j) * next : Real(0);
            }
            sums[q] = sum;
          }
          const Real sum = sums_across_row(sums);
          const int t = t0 + lane / patch_rows, i = i0 + lane % patch_rows;
          if (t < end && i < h.Dv) h.o(t)[i] = j0 < side ? sum : h.o(t)[i] + sum;
        }
        RECOLLECT_UNROLL
        for (int r = 0; r < patch_rows; ++r)
          for (int l = 0; l < patch_columns; ++l)
            if (cell(r, l)) *cell(r, l) = state[r][l];
      });
      return;
    }
    each(team, rows, [=](int i) {
      Real *const state = s + size_t(i) * F;
      for (int t = c.first; t < c.first + c.n; ++t) {
        const auto row = step.at(h, t, first + i);
        for (int j = 0; j < F; ++j) state[j] = row.decay(j) * state[j] + row.write(j);
        h.o(t)[first + i] = sum_of<Real>(F, [=](int j) { return row.read(j) * state[j]; });
      }
    });
  }

private:
  static constexpr int patch_rows = 4, patch_columns = 2; // the patch of the state in a GPU thread's registers
  /// Calls body(i, j, side) for patches of the state, in each thread of the row of `side` threads that shares a patch.
  /// The patch has the rows i, i + 1 ...; the thread takes its columns j, j + side ... Patches of the same rows are
  /// processed in order of their columns.
  template <class Body> KOKKOS_FUNCTION void each_patch(const Team &team, const Body &body) const {
    const int F = columns;
    each_row(team, (arrays.Dv - 1) / patch_rows + 1, [=](int i, int first, int side) {
      for (int j = first; j - first < F; j += side * patch_columns) body(i * patch_rows, j, side);
    });
  }

  static constexpr int bundle = on_host ? State::grain : 1; // rows of one column per thread at a time

  /// Calls body(i, count) for bundles of `count` rows from row i on.
  template <class Body> KOKKOS_FUNCTION void each_bundle(const Team &team, const Body &body) const {
    each(team, (rows - 1) / bundle + 1, [=, *this](int unit) {
      const int i = unit * bundle, left = rows - i;
      if (left >= bundle)
        body(i, std::integral_constant<int, bundle>());
      else
        body(i, left);
    });
  }

protected:
  /// The rows of a head's state that this algebra handles.
  KOKKOS_FUNCTION Real *own(Real *state) const { return state + size_t(first) * columns; }
  KOKKOS_FUNCTION static void copy(const Team &team, size_t n, const Real *from, Real *to) {
    for (size_t i = team.rank; i < n; i += team.size) to[i] = from[i];
  }
};

template <class Real, class Rule>
void chunked_scan(const std::string &label, const Call<Real> &call, const Rule &rule) {
  run_chunks(label, call, ScanAlgebra<Real, Rule>{{HeadArrays<Real>(call), call.state_shape.columns}, rule});
}

} // namespace recollect::variants
