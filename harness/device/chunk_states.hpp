// SPDX-License-Identifier: Apache-2.0
// The states at the starts of chunks, which a forward pass saves for the backward pass (engine.hpp).
#pragma once
#include "harness/device/chunk.hpp"
#include "harness/device/device.hpp"

namespace recollect {

/// States at the starts of all chunks, in the algebra's own layout.
template <class Real> struct ChunkStates {
  int chunks = 0, C = 1;
  size_t size = 0; // number of reals in a state
  Array<Real> states = {};
  ChunkStates() = default;
  template <class Algebra>
  ChunkStates(const Call<Real> &call, const Algebra &algebra)
      : chunks((call.shape.T - 1) / call.chunk + 1), C(call.chunk), size(algebra.state_size()),
        states(call.arena->template take<Real>(call.shape.heads() * chunks * size)) {}
  KOKKOS_FUNCTION Real *of(const Chunk &c) const { return states.data() + (c.head * chunks + c.first / C) * size; }
  /// Saves the state at a chunk's start, unless the engine has already written it (saved_states() in algebra.hpp).
  KOKKOS_FUNCTION void keep(const Team &team, const Chunk &c, const Real *state) const {
    Real *const to = of(c);
    if (to == state) return;
    for (size_t i = team.rank; i < size; i += team.size) to[i] = state[i];
  }
};

} // namespace recollect
