// SPDX-License-Identifier: Apache-2.0
// Gradients of layers that pass the state's gradient dS backward by a linear map which depends on the inputs but not on
// the states. The maps of all segments of a head are computed in parallel, and then dS is passed from segment to
// segment. Finally all segments run their backward steps in parallel (recurrent_backward.hpp). Each segment starts from
// dS at its end, and recomputes its states from the state saved at its start. A CPU also passes dS through a segment by
// the backward steps, some rows of dS per thread, so that results are bitwise equal in every schedule.
#pragma once
#include "harness/device/engine.hpp"
#include "variants/kernels/common/recurrent_backward.hpp"

namespace recollect::variants {

/// An adjoint algebra (engine.hpp) whose chunks are segments. `State` supplies the summary type and state_passing().
/// pass(team, head, chunk, d_o, summary) writes the summary of a segment, where d_o is the output gradient of the head.
/// pass.carry(head, chunk, d_o, i, row) takes row i of dS back through a segment, with the same operations as Step
/// (recurrent_backward.hpp).
template <class State, class Pass, class Step> struct SegmentAdjoint : State {
  using Real = typename State::Real;
  static constexpr bool carries_by_reading = true;
  static constexpr bool fetches = false;
  Pass pass;
  StepsBack<Real, Step> steps;
  ChunkStates<Real> starts;

  struct Summarising {};
  struct Carrying {};
  struct Reading {
    Real *states, *buffer, *dS;
  };
  KOKKOS_FUNCTION typename State::Summary summary(Stack<Real> &s) const {
    if constexpr (on_host) return {};
    return State::summary(s);
  }
  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &) const { return {}; }
  KOKKOS_FUNCTION Carrying carrying(Stack<Real> &) const { return {}; }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    return {s.take(steps.states_size(starts.C)), s.take(steps.buffer_size()), s.take(starts.size)};
  }
  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *dS) const {
    steps.copy(team, starts.size, steps.d_state.data() + head * starts.size, dS);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *dS) const {
    steps.copy(team, starts.size, dS, steps.d_state.data() + head * starts.size);
  }

  RECOLLECT_IN_LINE void chunk_local(const Team &team, const Chunk &c, const typename State::Summary &out,
                                     const Summarising &) const {
    if constexpr (on_host) return;
    const Head<Real> h = steps.arrays.head(c.head);
    pass(team, h, c, given(h), out);
  }
  RECOLLECT_IN_LINE void state_passing(const Team &team, const Chunk &c, const typename State::Summary &chunk,
                                       const Part &part, const Real *before, Real *after, const Carrying &x) const {
    if constexpr (on_host) {
      const Head<Real> h = steps.arrays.head(c.head);
      const size_t width = starts.size / h.Dv;
      for (int i = part.begin(h.Dv); i < part.end(h.Dv); ++i) {
        steps.copy(team, width, before + i * width, after + i * width);
        pass.carry(h, c, given(h), i, after + i * width);
      }
    } else {
      State::state_passing(team, c, chunk, part, before, after, x);
    }
  }

  /// `end` is dS after the segment; `left` receives dS before it.
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const typename State::Summary &,
                                      const Real *end, Real *left, const Reading &x) const {
    const Head<Real> h = steps.arrays.head(c.head);
    Real *const dS = left ? left : x.dS;
    steps.copy(team, starts.size, end, dS);
    steps.replay(team, h, c.first, c.first + c.n, starts.of(c), x.states, x.buffer);
    steps.back(team, h, c.first, c.first + c.n, x.states, dS, x.buffer);
  }

private:
  KOKKOS_FUNCTION const Real *given(const Head<Real> &h) const {
    return steps.d_o.data() + h.index * size_t(h.T) * h.Dv;
  }
};

/// Runs the backward pass in segments of call.chunk steps. `starts` has the states at the starts of these segments.
template <class State, class Pass, class Step, class Real>
void segments_vjp(const std::string &label, const Call<Real> &call, const BackwardCall<Real> &back, const State &state,
                  const Pass &pass, const Step &step, const ChunkStates<Real> &starts) {
  run_chunks(label, call, SegmentAdjoint<State, Pass, Step>{state, pass, {back, step}, starts}, true);
}

/// Most steps per segment: a team holds the states of all steps of its segment in memory.
constexpr int longest_segment = 16;

} // namespace recollect::variants
