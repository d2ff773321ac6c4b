// SPDX-License-Identifier: Apache-2.0
// Gradients of scan.hpp's layers. What comes after a chunk reaches its start element by element, as the state did,
//
//   dS_0 = D dS_C + sum_t D(t,0) do_t read_t,   D(t,0) the decays up to step t,
//
// which asks for no state: chunks know it all at once, then each is gone back through step by step from its end's dS,
// its states run anew from those at its start, which a forward run has kept.
#pragma once
#include "variants/kernels/recurrent_vjp.hpp"
#include "variants/kernels/scan.hpp"

namespace recollect::variants {

/// The forward run, kept.
template <class Number, class Rule> struct ScanStarts : ScanAlgebra<Number, Rule> {
  using Base = ScanAlgebra<Number, Rule>;
  Starts<Number> starts;
  RECOLLECT_IN_LINE void read(const Team &team, const Chunk &c, const typename Base::Summary &chunk,
                              const Number *before, Number *after, const typename Base::Reading &x) const {
    starts.keep(team, c, before);
    if (after) Base::read(team, c, chunk, before, after, x); // nothing else carries the state
  }
  KOKKOS_FUNCTION void store(const Team &, size_t, const Number *) const {} // the call keeps its initial state
};

/// Step is recurrent_vjp.hpp's.
template <class Number, class Rule, class Step> struct ScanAdjoint : ScanState<Number> {
  using Real = Number;
  using State = ScanState<Real>;
  using State::arrays, State::columns, State::state_size, State::copy;
  using typename State::Summarising, typename State::Summary;
  Rule rule;
  StepsBack<Real, Step> steps;
  Starts<Real> starts;

  struct Reading {
    Real *states, *room, *dS;
  };
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    return {s.take(steps.states_size(starts.C)), s.take(steps.room_size()), s.take(state_size())};
  }
  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *dS) const {
    copy(team, state_size(), steps.d_state.data() + head * state_size(), dS);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *dS) const {
    copy(team, state_size(), dS, steps.d_state.data() + head * state_size());
  }

  RECOLLECT_IN_LINE void summarise(const Team &team, const Chunk &c, const Summary &out, const Summarising &) const {
    const Head<Real> h = arrays.head(c.head);
    const Rule of = rule;
    const int F = columns, V = arrays.Dv;
    const Real *d_o = steps.d_o.data() + c.head * size_t(arrays.T) * V;
    each_row(team, V, [=](int i, int first, int side) {
      Real *const end = out.end + size_t(i) * F, *const decay = out.decay + size_t(i) * F;
      for (int j = first; j < F; j += side) end[j] = 0, decay[j] = 1;
      for (int t = c.first + c.n - 1; t >= c.first; --t) {
        const auto row = of.at(h, t, i);
        const Real given = d_o[size_t(t) * V + i];
        for (int j = first; j < F; j += side) { // an element stays with its thread
          const Real d = row.decay(j);
          end[j] = d * (end[j] + given * row.read(j)), decay[j] *= d;
        }
      }
    });
  }

  /// `given` is dS after the chunk, `left` before it.
  RECOLLECT_IN_LINE void read(const Team &team, const Chunk &c, const Summary &, const Real *given, Real *left,
                              const Reading &x) const {
    const Head<Real> h = arrays.head(c.head);
    Real *const dS = left ? left : x.dS;
    copy(team, state_size(), given, dS);
    steps.replay(team, h, c.first, c.first + c.n, starts.of(c), x.states, x.room);
    steps.back(team, h, c.first, c.first + c.n, x.states, dS, x.room);
  }
};

template <class Real, class Rule, class Step>
void scan_vjp(const std::string &label, const Pullback<Real> &back, const Rule &rule, const Step &step) {
  Call<Real> call = back.call;
  if (!on_host) call.chunk = std::min(call.chunk, 8); // their states at widths of 64 lie in shared memory
  const ScanState<Real> state{HeadArrays<Real>(call), call.state_shape.columns};
  const Starts<Real> starts(call, state);
  run_chunks(label + "::starts", call, ScanStarts<Real, Rule>{{state, rule}, starts});
  run_chunks(label, call, ScanAdjoint<Real, Rule, Step>{state, rule, {back, step}, starts}, true);
}

} // namespace recollect::variants
