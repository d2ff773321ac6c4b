// SPDX-License-Identifier: Apache-2.0
// Algebras (algebra.hpp) that are compiled with static extents: heads of width 64, whole chunks of 64 steps, one
// precision of products. Then addresses within a tile are constants, and loops over rows are unrolled. On an H200 this
// reduces the time of the delta rule to two thirds.
//
// An algebra opts in by these members:
//   has_sizes(size)         whether the call has chunks and widths of this size
//   set_sizes(size, kind)   sets these sizes on the device, as constants that the compiler knows
//   kind(), kinds           kind() < kinds selects one of the variants that are compiled separately, for example by how
//                           the state decays
//   all_precisions          true: float64 and products of reduced precision are compiled too. false: only exact float32
//                           is compiled, which also serves calls that allow reduced precision
//
// Optional members:
//   static_steps(kind)      the chunk length, if it is not 64
//   reads_alone(kind)       whether the scratch of chunk_output leaves no space for a second team
//   threads                 threads per team in all phases
//   reading_threads         threads per team in chunk_output
//   reading_teams           how many teams that run chunk_output share a multiprocessor
//   static_extents_only     true: the algebra supports no other sizes
#pragma once
#include "harness/device/arena.hpp"
#include "harness/device/chunk.hpp"
#include "harness/device/team.hpp"
#include <utility>

namespace recollect::engine {

constexpr int static_size = 64, team_size = 256; // static_size: width and steps; team_size: threads, on a GPU

/// The team, with a size that is known at compile time.
template <int size = team_size> KOKKOS_FUNCTION Team sized(const Team &team) {
  return {team.rank, on_cuda ? size : team.size, team.math};
}

template <class Algebra, class = void> struct HasStaticExtents : std::false_type {};
template <class Algebra>
struct HasStaticExtents<Algebra, std::void_t<decltype(std::declval<Algebra &>().set_sizes(static_size, 0))>>
    : std::bool_constant<on_cuda && (std::is_same<typename Algebra::Real, float>::value || Algebra::all_precisions)> {};

/// Number of steps per chunk.
template <class Algebra, class = void> struct StaticSteps {
  KOKKOS_FUNCTION static constexpr int of(int) { return static_size; }
};
template <class Algebra> struct StaticSteps<Algebra, std::void_t<decltype(Algebra::static_steps(0))>> {
  KOKKOS_FUNCTION static constexpr int of(int kind) { return Algebra::static_steps(kind); }
};

/// Whether the call has these static sizes.
template <class Algebra> bool has_static_extents(const Algebra &algebra, int T) {
  if constexpr (HasStaticExtents<Algebra>::value)
    return algebra.kind() < Algebra::kinds && T % StaticSteps<Algebra>::of(algebra.kind()) == 0 &&
           algebra.has_sizes(static_size);
  return false;
}

template <class Algebra_, int Kind, Math Precision> struct StaticExtents : Algebra_ {
  using Algebra = Algebra_;
  using typename Algebra::Real;
  using typename Algebra::Summary;

  KOKKOS_FUNCTION size_t state_size() const { return known().state_size(); }
  KOKKOS_FUNCTION int buffers() const { return known().buffers(); }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const { return known().summary(s); }
  KOKKOS_FUNCTION auto summarising(Stack<Real> &s) const { return known().summarising(s); }
  KOKKOS_FUNCTION auto carrying(Stack<Real> &s) const { return known().carrying(s); }
  KOKKOS_FUNCTION auto reading(Stack<Real> &s) const { return known().reading(s); }

  template <class Scratch>
  RECOLLECT_IN_LINE void chunk_local(const Team &team, const Chunk &c, const Summary &out, const Scratch &x) const {
    known().chunk_local(precise(team), whole(c), out, x);
  }
  template <class Scratch>
  RECOLLECT_IN_LINE void fetch(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                               const Scratch &x) const {
    const Algebra algebra = known();
    algebra.fetch(precise(team), whole(c), chunk, {part.index, algebra.parts(), part.turn}, x);
  }
  template <class Scratch>
  RECOLLECT_IN_LINE void state_passing(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Scratch &x) const {
    const Algebra algebra = known();
    algebra.state_passing(precise(team), whole(c), chunk, {part.index, algebra.parts(), part.turn}, before, after, x);
  }
  KOKKOS_FUNCTION Real *place(size_t head, size_t at) const { return known().place(head, at); }
  KOKKOS_FUNCTION Affine<Real> affine(const Summary &chunk, size_t at) const { return known().affine(chunk, at); }
  template <class Scratch>
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &chunk, const Real *before,
                                      const Scratch &x) const {
    known().chunk_output(precise(team), whole(c), chunk, before, x);
  }

private:
  KOKKOS_FUNCTION Algebra known() const {
    Algebra algebra = *this;
    algebra.set_sizes(static_size, Kind);
    return algebra;
  }
  KOKKOS_FUNCTION static Precise<Precision> precise(const Team &team) { return Precise<Precision>(team); }
  KOKKOS_FUNCTION static Chunk whole(const Chunk &c) { return {c.head, c.first, StaticSteps<Algebra>::of(Kind)}; }
};

template <class Algebra> struct IsStatic : std::false_type {};
template <class Algebra, int Kind, Math Precision>
struct IsStatic<StaticExtents<Algebra, Kind, Precision>> : std::true_type {};

/// Whether only one team per multiprocessor runs chunk_output.
template <class Algebra, class = void> struct ReadsAlone : std::false_type {};
template <class Algebra, int Kind, Math Precision>
struct ReadsAlone<StaticExtents<Algebra, Kind, Precision>, std::enable_if_t<Algebra::reads_alone(Kind)>>
    : std::true_type {};

/// Whether the algebra supports only these sizes.
template <class Algebra, class = void> constexpr bool static_extents_only = false;
template <class Algebra>
constexpr bool static_extents_only<Algebra, std::enable_if_t<Algebra::static_extents_only>> = true;

/// How many teams of chunk_output share a multiprocessor: the algebra's number if it has one, otherwise `most`.
template <class Algebra, int most, class = void> constexpr int reading_teams = most;
template <class Algebra, int most>
constexpr int reading_teams<Algebra, most, std::enable_if_t<(Algebra::reading_teams > 0)>> = Algebra::reading_teams;

/// Threads per team in chunk_local and in chunk_output, and how many teams of chunk_output share a multiprocessor.
template <class Algebra, class = void> struct Teams {
  static constexpr int summarising = team_size, reading = ReadsAlone<Algebra>::value ? 2 * team_size : team_size,
                       together = 2 * team_size / reading;
};
template <class Algebra> struct Teams<Algebra, std::enable_if_t<(Algebra::threads > 0)>> {
  static constexpr int summarising = Algebra::threads, reading = Algebra::threads,
                       together = reading_teams<Algebra, 2 * team_size / reading>;
};
template <class Algebra> struct Teams<Algebra, std::enable_if_t<(Algebra::reading_threads > 0)>> {
  static constexpr int summarising = team_size, reading = Algebra::reading_threads,
                       together = reading_teams<Algebra, 2 * team_size / reading>;
};

} // namespace recollect::engine
