// SPDX-License-Identifier: Apache-2.0
// An *algebra* computes one chunk of a layer; the engine (engine.hpp) calls it for all chunks. An algebra is a functor
// that is copied to the device. These members are required, and checked at compile time:
//
//   using Real, Summary                    Real: the number type; Summary: the arrays of a chunk that one phase hands
//                                          to the next
//   size_t state_size()                    number of reals in a head's state, in the algebra's own layout
//   int parts()                            number of independent parts of the state; one team passes a part through
//                                          the chunks
//   load(team, head, state), store(...)    convert the state from and to the layer's layout, without barriers
//   Summary summary(Stack &)               allocates the summary of a chunk
//   summarising(Stack &), carrying(...), reading(...)   allocate the scratch of the three phases, in this order:
//
//   chunk_local(team, chunk, summary, scratch)                          computes the summary, which depends on this
//                                                                       chunk only
//   state_passing(team, chunk, summary, part, before, after, scratch)   computes `after`, the state after the chunk,
//                                                                       from `before`, the state before the chunk
//   chunk_output(team, chunk, summary, before, scratch)                 computes the outputs
//
//   static constexpr bool carries_by_reading   true: chunk_output(team, chunk, summary, before, after, scratch) also
//                                              writes the state after the chunk to `after`, unless `after` is null.
//                                              Streaming then calls only chunk_output
//   static constexpr bool elementwise          true: a chunk maps element `at` of the state by
//                                              Affine<Real> affine(summary, at). On a GPU one thread passes an
//                                              element through all chunks
//   static constexpr bool fetches              true: fetch(team, chunk, summary, part, scratch) starts to copy the
//                                              chunk's data for state_passing() to the scratch. int buffers() is 2 if
//                                              the next chunk is copied during state_passing() of this one, else 1.
//                                              From a team's second chunk on, the scratch also holds the state
//
// If carries_by_reading and elementwise are both true, state_passing() is not needed. Optional members:
//
//   places                  true: place(head, at) is the address of element `at` in the layer's state, so that the
//                           thread that passes an element through the chunks also loads and stores it
//   narrow(part)            restricts the algebra to one part of the state, if outputs divide into these parts too. On
//                           a CPU threads then stream the parts, so that results have the same bits in every schedule
//   keeps_start             true: the layer's state must not change, so store() is not called
//   saved_states()          the ChunkStates in which chunk_output saves the state at each chunk's start. In the
//                           schedule three_phase, state passing writes these states itself. Then chunk_output is
//                           skipped if it computes nothing else (reads_nothing())
//   set_sizes(size, kind)   for kernels whose sizes are known at compile time, with the members that
//                           static_extents.hpp lists. Algebras that support one size only (static_extents_only) exist
//                           on CUDA only, and is_algebra() does not check them
#pragma once
#include "harness/device/arena.hpp"
#include "harness/device/chunk.hpp"
#include "harness/device/team.hpp"
#include <type_traits>

namespace recollect::engine {

/// Arguments of an algebra's members, for the unevaluated expressions below. They are declared, but not defined.
template <class A> struct Passed {
  using Real = typename A::Real;
  static const A &algebra;
  static Stack<Real> &stack;
  static const Team &team;
  static const Chunk &chunk;
  static const Part &part;
  static const typename A::Summary &summary;
  static const Real *before;
  static Real *after;
};

template <class A> using StateSize = decltype(size_t(Passed<A>::algebra.state_size()));
template <class A> using Parts = decltype(int(Passed<A>::algebra.parts()));
template <class A>
using Loads = decltype(Passed<A>::algebra.load(Passed<A>::team, size_t(), Passed<A>::after),
                       Passed<A>::algebra.store(Passed<A>::team, size_t(), Passed<A>::before));
template <class A> using PlacesSummary = decltype(typename A::Summary(Passed<A>::algebra.summary(Passed<A>::stack)));
template <class A>
using PlacesScratch =
    decltype(Passed<A>::algebra.summarising(Passed<A>::stack), Passed<A>::algebra.carrying(Passed<A>::stack),
             Passed<A>::algebra.reading(Passed<A>::stack));
template <class A>
using HasChunkLocal = decltype(Passed<A>::algebra.chunk_local(Passed<A>::team, Passed<A>::chunk, Passed<A>::summary,
                                                              Passed<A>::algebra.summarising(Passed<A>::stack)));
template <class A>
using HasStatePassing = decltype(Passed<A>::algebra.state_passing(Passed<A>::team, Passed<A>::chunk, Passed<A>::summary,
                                                                  Passed<A>::part, Passed<A>::before, Passed<A>::after,
                                                                  Passed<A>::algebra.carrying(Passed<A>::stack)));
template <class A>
using CarriesElements = decltype(Affine<typename A::Real>(Passed<A>::algebra.affine(Passed<A>::summary, size_t())));
template <class A>
using Fetches = decltype(Passed<A>::algebra.fetch(Passed<A>::team, Passed<A>::chunk, Passed<A>::summary,
                                                  Passed<A>::part, Passed<A>::algebra.carrying(Passed<A>::stack)),
                         int(Passed<A>::algebra.buffers()));
template <class A>
using HasChunkOutput =
    decltype(Passed<A>::algebra.chunk_output(Passed<A>::team, Passed<A>::chunk, Passed<A>::summary, Passed<A>::before,
                                             Passed<A>::algebra.reading(Passed<A>::stack)));
template <class A>
using PassesInOutput =
    decltype(Passed<A>::algebra.chunk_output(Passed<A>::team, Passed<A>::chunk, Passed<A>::summary, Passed<A>::before,
                                             Passed<A>::after, Passed<A>::algebra.reading(Passed<A>::stack)));

/// Whether the algebra has the members that Expression, one of the templates above, uses.
template <template <class> class Expression, class A, class = void> constexpr bool has = false;
template <template <class> class Expression, class A>
constexpr bool has<Expression, A, std::void_t<Expression<A>>> = true;

/// Compiles only if the algebra has all members that the engine uses; the compiler's message names what is missing.
template <class A> constexpr bool is_algebra() {
  static_assert(has<StateSize, A>, "an algebra has size_t state_size() const");
  static_assert(has<Parts, A>, "an algebra has int parts() const");
  static_assert(has<Loads, A>, "an algebra has load(team, head, state) and store(team, head, state)");
  static_assert(has<PlacesSummary, A>, "an algebra has Summary summary(Stack &)");
  static_assert(has<PlacesScratch, A>, "an algebra has summarising(Stack &), carrying(Stack &) and reading(Stack &)");
  static_assert(has<HasChunkLocal, A>, "an algebra has chunk_local(team, chunk, summary, scratch)");
  static_assert(has<HasStatePassing, A> || (A::carries_by_reading && A::elementwise),
                "an algebra has state_passing(team, chunk, summary, part, before, after, scratch)");
  static_assert(has<CarriesElements, A> || !A::elementwise, "an elementwise algebra has affine(summary, at)");
  static_assert(has<Fetches, A> || !A::fetches, "an algebra that fetches has fetch(...) and int buffers()");
  static_assert(
      A::carries_by_reading ? has<PassesInOutput, A> : has<HasChunkOutput, A>,
      "an algebra has chunk_output(team, chunk, summary, before, scratch); with `after` if it carries by reading");
  return true;
}

} // namespace recollect::engine
