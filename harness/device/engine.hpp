// SPDX-License-Identifier: Apache-2.0
// Runs a layer with a state over a sequence, chunk by chunk. An algebra (algebra.hpp) computes one chunk in three
// phases: chunk_local, state_passing, chunk_output. The engine runs them in a *schedule*:
//
//   streaming     One team per head goes through the head's chunks and keeps the state. This is used for many heads.
//   three_phase   chunk_local runs for all chunks in parallel, then state_passing along the chunks, then chunk_output
//                 for all chunks in parallel. This is used for few heads and long sequences, and on GPUs. It stores a
//                 summary and a state per chunk. To bound this memory, a long sequence is processed in windows of
//                 chunks.
//
// The adjoint of an algebra is an algebra too. It runs backwards: its state is the gradient of the state, which passes
// from the last chunk to the first, and its outputs are the gradients of the chunk's inputs. It uses the states at the
// chunks' starts (ChunkStates), which an earlier forward pass has saved.
//
// The algebra places the barriers within a phase, and the engine places a barrier after each phase.
#pragma once
#include "harness/device/algebra.hpp"
#include "harness/device/chunk_states.hpp"
#include "harness/device/static_extents.hpp"
#include "harness/device/tile/tile.hpp"

namespace recollect {

namespace engine {

struct Steps {
  int T, C;
  bool backwards = false; // from the last chunk to the first
  KOKKOS_FUNCTION int chunks() const { return (T - 1) / C + 1; }
  KOKKOS_FUNCTION Chunk at(size_t head, int turn) const {
    const int c = backwards ? chunks() - 1 - turn : turn;
    return {head, c * C, T - c * C < C ? T - c * C : C};
  }
};

/// Whether parts of the state can be streamed independently of each other.
template <class Algebra, class = void> struct Divides : std::false_type {};
template <class Algebra>
struct Divides<Algebra, std::void_t<decltype(std::declval<Algebra &>().narrow(Part{0, 1}))>>
    : std::bool_constant<on_host> {};

/// Whether the layer's state must not change.
template <class Algebra, class = void> constexpr bool keeps_start = false;
template <class Algebra> constexpr bool keeps_start<Algebra, std::enable_if_t<Algebra::keeps_start>> = true;

/// Whether chunk_output saves the states at the chunks' starts.
template <class Algebra, class = void> constexpr bool saves_states = false;
template <class Algebra>
constexpr bool saves_states<Algebra, std::void_t<decltype(std::declval<const Algebra &>().saved_states())>> = true;

#ifdef __CUDACC__
using StreamTeam = tile::cuda::ByCall; // products are called: inlined in all phases, they would take nvcc minutes
#else
using StreamTeam = Team;
#endif

template <class Algebra> struct Streaming {
  using Real = typename Algebra::Real;
  Algebra whole;
  Steps steps;
  int parts;

  RECOLLECT_IN_LINE void operator()(const Team &all, size_t unit, Real *memory) const {
    const size_t head = unit / parts;
    if constexpr (Divides<Algebra>::value) {
      Algebra part = whole;
      part.narrow({int(unit % parts), parts});
      stream(StreamTeam{sized(all)}, head, part, memory);
    } else {
      stream(StreamTeam{sized(all)}, head, whole, memory);
    }
  }

private:
  RECOLLECT_IN_LINE void stream(const StreamTeam &team, size_t head, const Algebra &algebra, Real *memory) const {
    Stack<Real> stack{memory};
    Real *before = stack.take(algebra.state_size()), *after = stack.take(algebra.state_size());
    const auto summary = algebra.summary(stack);
    algebra.load(team, head, before);
    team.barrier();
    for (int c = 0; c < steps.chunks(); ++c) {
      const Chunk chunk = steps.at(head, c);
      Stack<Real> first = stack, second = stack, third = stack;
      if constexpr (Algebra::carries_by_reading) {
        algebra.chunk_output(team, chunk, summary, before, after, algebra.reading(first));
      } else {
        algebra.chunk_local(team, chunk, summary, algebra.summarising(first));
        team.barrier();
        const auto carrying = algebra.carrying(second);
        if constexpr (Algebra::fetches) {
          algebra.fetch(team, chunk, summary, Part{0, 1}, carrying);
          team.barrier();
        }
        algebra.state_passing(team, chunk, summary, Part{0, 1}, before, after, carrying);
        team.barrier();
        algebra.chunk_output(team, chunk, summary, before, algebra.reading(third));
      }
      team.barrier();
      Real *const old = before;
      before = after, after = old;
    }
    if constexpr (!keeps_start<Algebra>) algebra.store(team, head, before);
  }
};

/// Memory of the three phases: summaries and states of the chunks [begin, end) of every head, and the states with which
/// the next window starts.
template <class Real> struct Window {
  // The window has the chunks begin ... end - 1, at most `most`. `states` has room for `kept` chunks per head: `most`
  // or all of them.
  int begin, end, most, kept;
  size_t summary_size, state_size;
  Array<Real> summaries, states, current;
  KOKKOS_FUNCTION int size() const { return end - begin; }
  KOKKOS_FUNCTION Real *summary(size_t head, int c) const {
    return summaries.data() + (head * most + c - begin) * summary_size;
  }
  KOKKOS_FUNCTION Real *state(size_t head, int c) const {
    return states.data() + (head * kept + c - (kept > most ? 0 : begin)) * state_size;
  }
  KOKKOS_FUNCTION Real *now(size_t head) const { return current.data() + head * state_size; }
};

/// Whether the thread that passes an element through the chunks also loads and stores it.
template <class Algebra, class = void> constexpr bool in_place = false;
template <class Algebra>
constexpr bool in_place<Algebra, std::enable_if_t<Algebra::elementwise && Algebra::places>> = !on_host;

constexpr int teams_a_state = on_host ? 1 : 16; // number of teams that load or store one state together
KOKKOS_FUNCTION inline Team joined(const Team &team, size_t unit) {
  return {team.rank + int(unit % teams_a_state) * team.size, team.size * teams_a_state};
}

template <class Algebra> struct Load {
  using Real = typename Algebra::Real;
  Algebra algebra;
  Window<Real> window;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *) const {
    const size_t head = unit / teams_a_state;
    algebra.load(joined(team, unit), head, window.now(head));
  }
};
template <class Algebra> struct Store {
  using Real = typename Algebra::Real;
  Algebra algebra;
  Window<Real> window;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *) const {
    const size_t head = unit / teams_a_state;
    algebra.store(joined(team, unit), head, window.now(head));
  }
};

template <class Algebra> struct ChunkLocal {
  using Real = typename Algebra::Real;
  static constexpr bool on_chip = IsStatic<Algebra>::value;
  static constexpr int threads = Teams<Algebra>::summarising;
  Algebra algebra;
  Steps steps;
  Window<Real> window;
  RECOLLECT_IN_LINE void operator()(const Team &all, size_t unit, Real *memory) const {
    const Team team = sized<threads>(all);
    const size_t head = unit / window.size();
    const int c = window.begin + int(unit % window.size());
    Stack<Real> kept{window.summary(head, c)}, scratch{memory};
    algebra.chunk_local(team, steps.at(head, c), algebra.summary(kept), algebra.summarising(scratch));
    if (in_place<Algebra> || c > window.begin) return;
    const Real *now = window.now(head);
    Real *start = window.state(head, c);
    for (size_t i = team.rank; i < window.state_size; i += team.size) start[i] = now[i];
  }
};

template <class Algebra> struct StatePassing {
  using Real = typename Algebra::Real;
  static constexpr bool on_chip = IsStatic<Algebra>::value;
  Algebra algebra;
  Steps steps;
  Window<Real> window;
  int parts;
  RECOLLECT_IN_LINE void operator()(const Team &all, size_t unit, Real *memory) const {
    const Team team = sized(all);
    const size_t head = unit / parts;
    const Part part{int(unit % parts), parts};
    if constexpr (Algebra::elementwise && !on_host) {
      const int all = int(window.state_size);
      each(team, part.end(all) - part.begin(all), [=, *this](int i) {
        const size_t at = part.begin(all) + i;
        if (at >= algebra.state_size()) return;
        Real *state = window.state(head, window.begin) + at; // state of the current chunk
        Real *first = state, *after = window.now(head) + at;
        if constexpr (in_place<Algebra>) {
          first = window.begin == 0 ? algebra.place(head, at) : after;
          if (!keeps_start<Algebra> && window.end == steps.chunks()) after = algebra.place(head, at);
        }
        Real element = *first;
        *state = element;
        Real *summary = window.summary(head, window.begin);
        constexpr int together = 8; // so many chunks' summaries are loaded before the first of them is used
        const auto cross = [&](int chunks, auto last) {
          Affine<Real> across[together];
          RECOLLECT_UNROLL
          for (int i = 0; i < together; ++i)
            if (i < chunks) {
              Stack<Real> kept{summary + i * window.summary_size};
              across[i] = algebra.affine(algebra.summary(kept), at);
            }
          RECOLLECT_UNROLL
          for (int i = 0; i < together; ++i)
            if (i < chunks) {
              element = across[i](element);
              *(last && i + 1 == chunks ? after : state + (i + 1) * window.state_size) = element;
            }
          summary += together * window.summary_size, state += together * window.state_size;
        };
        int left = window.size();
        for (; left > together; left -= together) cross(together, std::false_type());
        cross(left, std::true_type());
      });
    } else {
      Stack<Real> scratch{memory};
      const auto carrying = algebra.carrying(scratch);
      for (int c = window.begin; c < window.end; ++c) {
        if (c == window.begin || !double_buffered()) fetch(team, head, c, part, carrying);
        team.barrier();
        if (double_buffered() && c + 1 < window.end) fetch(team, head, c + 1, part, carrying);
        Stack<Real> kept{window.summary(head, c)};
        algebra.state_passing(team, steps.at(head, c), algebra.summary(kept), turn(part, c), window.state(head, c),
                              c + 1 < window.end ? window.state(head, c + 1) : window.now(head), carrying);
        if (!double_buffered()) team.barrier();
      }
    }
  }

private:
  KOKKOS_FUNCTION bool double_buffered() const {
    if constexpr (Algebra::fetches) return algebra.buffers() == 2;
    return false;
  }
  KOKKOS_FUNCTION Part turn(const Part &part, int c) const { return {part.index, part.count, c - window.begin}; }
  template <class Scratch>
  RECOLLECT_IN_LINE void fetch(const Team &team, size_t head, int c, const Part &part, const Scratch &scratch) const {
    if constexpr (Algebra::fetches) {
      Stack<Real> kept{window.summary(head, c)};
      algebra.fetch(team, steps.at(head, c), algebra.summary(kept), turn(part, c), scratch);
    }
  }
};

template <class Algebra> struct ChunkOutput {
  using Real = typename Algebra::Real;
  static constexpr bool on_chip = IsStatic<Algebra>::value;
  static constexpr int threads = Teams<Algebra>::reading, teams_at_once = Teams<Algebra>::together;
  Algebra algebra;
  Steps steps;
  Window<Real> window;
  RECOLLECT_IN_LINE void operator()(const Team &all, size_t unit, Real *memory) const {
    const Team team = sized<threads>(all);
    const size_t head = unit / window.size();
    const int c = window.begin + int(unit % window.size());
    Stack<Real> kept{window.summary(head, c)}, scratch{memory};
    if constexpr (Algebra::carries_by_reading)
      algebra.chunk_output(team, steps.at(head, c), algebra.summary(kept), window.state(head, c), nullptr,
                           algebra.reading(scratch));
    else
      algebra.chunk_output(team, steps.at(head, c), algebra.summary(kept), window.state(head, c),
                           algebra.reading(scratch));
  }
};

/// The number of reals that lay_out(stack) takes from the stack.
template <class Real, class LayOut> size_t measure(const LayOut &lay_out) {
  Stack<Real> stack;
  lay_out(stack);
  return stack.used;
}

template <class Real, class Algebra>
void stream(const std::string &label, const Call<Real> &call, const Algebra &algebra, const Steps &steps) {
  const size_t kept = measure<Real>(
      [&](Stack<Real> &s) { s.take(algebra.state_size()), s.take(algebra.state_size()), algebra.summary(s); });
  const size_t scratch = std::max({measure<Real>([&](Stack<Real> &s) { algebra.summarising(s); }),
                                   measure<Real>([&](Stack<Real> &s) { algebra.carrying(s); }),
                                   measure<Real>([&](Stack<Real> &s) { algebra.reading(s); })});
  const int parts = Divides<Algebra>::value ? algebra.parts() : 1;
  run<Real>({label, call.shape.heads() * parts, team_size, call.math}, *call.arena, kept + scratch,
            Streaming<Algebra>{algebra, steps, parts});
}

/// Number of chunks per head in a window: enough that every thread has several chunks, and more if the window still
/// fits in `budget` bytes.
inline int window_chunks(int chunks, size_t heads, size_t bytes_per_chunk) {
  constexpr size_t budget = size_t(1) << (on_host ? 22 : 28);
  const size_t teams = size_t(Execution().concurrency()) / (on_host ? 1 : team_size) + 1;
  const size_t least = 4 * teams / heads + 1, most = budget / (heads * bytes_per_chunk) + 1;
  return int(std::min<size_t>(chunks, std::max(least, most)));
}

#ifdef KOKKOS_ENABLE_CUDA
template <template <class> class Phase, class Real, int Kind, Math Precision, class Algebra, class... Rest>
void run_kind(const Launch &launch, Arena &arena, size_t scratch, const Algebra &algebra, const Rest &...rest) {
  using Known = StaticExtents<Algebra, Kind, Precision>;
  if constexpr (Kind + 1 < Algebra::kinds)
    if (algebra.kind() > Kind)
      return run_kind<Phase, Real, Kind + 1, Precision>(launch, arena, scratch, algebra, rest...);
  run<Real>(launch, arena, scratch, Phase<Known>{Known{algebra}, rest...});
}
template <template <class> class Phase, class Real, class Algebra, class... Rest>
void run_with_static_extents(const Launch &launch, Arena &arena, size_t scratch, const Algebra &algebra,
                             const Rest &...rest) {
  if constexpr (Algebra::all_precisions && std::is_same<Real, float>::value) {
    if (launch.math == Math::tf32)
      return run_kind<Phase, Real, 0, Math::tf32>(launch, arena, scratch, algebra, rest...);
    if (launch.math == Math::bf16)
      return run_kind<Phase, Real, 0, Math::bf16>(launch, arena, scratch, algebra, rest...);
  }
  run_kind<Phase, Real, 0, Math::exact>(launch, arena, scratch, algebra, rest...);
}
#endif
/// Runs a phase with static extents if `static_extents` and if its scratch fits into shared memory.
template <template <class> class Phase, class Real, class Algebra, class... Rest>
void run_phase(bool static_extents, const Launch &launch, Arena &arena, size_t scratch, const Algebra &algebra,
               const Rest &...rest) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (HasStaticExtents<Algebra>::value)
    if (static_extents_only<Algebra> || (static_extents && launching::fits_on_chip<Real>(scratch)))
      return run_with_static_extents<Phase, Real>(launch, arena, scratch, algebra, rest...);
#endif
  (void)static_extents;
  if constexpr (!static_extents_only<Algebra>) run<Real>(launch, arena, scratch, Phase<Algebra>{algebra, rest...});
}

template <class Real, class Algebra>
void three_phases(const std::string &label, const Call<Real> &call, const Algebra &algebra, const Steps &steps) {
  const size_t heads = call.shape.heads(), state_size = (algebra.state_size() + 15) / 16 * 16, // whole cache lines
      summary_size = measure<Real>([&](Stack<Real> &s) { algebra.summary(s); });
  const int chunks = steps.chunks();
  const int most = window_chunks(chunks, heads, (summary_size + state_size) * sizeof(Real));
  Array<Real> states;
  bool reads = true;
  if constexpr (saves_states<Algebra>)
    if (algebra.saved_states().size == state_size)
      states = algebra.saved_states().states, reads = !algebra.reads_nothing();
  const int kept = states.extent(0) ? chunks : most;
  if (!states.extent(0)) states = call.arena->template take<Real>(heads * most * state_size);
  Window<Real> w{0,
                 0,
                 most,
                 kept,
                 summary_size,
                 state_size,
                 call.arena->template take<Real>(heads * most * summary_size),
                 states,
                 call.arena->template take<Real>(heads * state_size)};
  const size_t summarising = measure<Real>([&](Stack<Real> &s) { algebra.summarising(s); }),
               carrying = measure<Real>([&](Stack<Real> &s) { algebra.carrying(s); }),
               reading = measure<Real>([&](Stack<Real> &s) { algebra.reading(s); });
  const int parts = Algebra::elementwise && !on_host ? int((state_size - 1) / team_size) + 1 : algebra.parts();
  const bool static_extents = has_static_extents(algebra, steps.T);
  const auto launch = [&](const char *phase, size_t units) {
    return Launch{label + "::" + phase, units, team_size, call.math};
  };
  if constexpr (!in_place<Algebra>)
    run<Real>(launch("load", heads * teams_a_state), *call.arena, 0, Load<Algebra>{algebra, w});
  for (w.begin = 0; w.begin < chunks; w.begin = w.end) {
    w.end = std::min(chunks, w.begin + w.most);
    const size_t units = heads * w.size();
    run_phase<ChunkLocal, Real>(static_extents, launch("chunk_local", units), *call.arena, summarising, algebra, steps,
                                w);
    run_phase<StatePassing, Real>(static_extents, launch("state_passing", heads * parts), *call.arena, carrying,
                                  algebra, steps, w, parts);
    if (reads)
      run_phase<ChunkOutput, Real>(static_extents, launch("chunk_output", units), *call.arena, reading, algebra, steps,
                                   w);
  }
  if constexpr (!in_place<Algebra> && !keeps_start<Algebra>)
    run<Real>(launch("store", heads * teams_a_state), *call.arena, 0, Store<Algebra>{algebra, w});
}

/// Explicit instances of an algebra's kernels, which nvcc takes minutes to compile. `prefix` is `extern` in the
/// algebra's header, and empty in the one source file that compiles the kernels.
#define RECOLLECT_STREAM(prefix, Algebra)                                                                              \
  prefix template void stream(const std::string &, const Call<Algebra::Real> &, const Algebra &, const Steps &);
#define RECOLLECT_SUMMARISE(prefix, Algebra)                                                                           \
  prefix template void run_phase<ChunkLocal, Algebra::Real>(bool, const Launch &, Arena &, size_t, const Algebra &,    \
                                                            const Steps &, const Window<Algebra::Real> &);
#define RECOLLECT_CARRY(prefix, Algebra)                                                                               \
  prefix template void run_phase<StatePassing, Algebra::Real>(bool, const Launch &, Arena &, size_t, const Algebra &,  \
                                                              const Steps &, const Window<Algebra::Real> &,            \
                                                              const int &);
#define RECOLLECT_READ(prefix, Algebra)                                                                                \
  prefix template void run_phase<ChunkOutput, Algebra::Real>(bool, const Launch &, Arena &, size_t, const Algebra &,   \
                                                             const Steps &, const Window<Algebra::Real> &);

#define RECOLLECT_PHASES(prefix, Algebra)                                                                              \
  RECOLLECT_SUMMARISE(prefix, Algebra) RECOLLECT_CARRY(prefix, Algebra) RECOLLECT_READ(prefix, Algebra)
#define RECOLLECT_SCHEDULES(prefix, Algebra) RECOLLECT_STREAM(prefix, Algebra) RECOLLECT_PHASES(prefix, Algebra)

/// Streaming if there is one chunk. On a CPU also if the heads alone keep the threads about as busy as all chunks
/// would.
inline Schedule chosen(const Steps &steps, size_t heads) {
  if (steps.chunks() == 1) return Schedule::streaming;
  if (!on_host) return Schedule::three_phase;
  const size_t threads = Execution().concurrency(), rounds = (heads - 1) / threads + 1;
  // Streaming leaves at most a fifth of the threads idle.
  return 4 * rounds * threads <= 5 * heads ? Schedule::streaming : Schedule::three_phase;
}

} // namespace engine

/// The schedule that run_chunks uses.
template <class Real> Schedule schedule_of(const Call<Real> &call) {
  const engine::Steps steps{call.shape.T, call.chunk};
  return call.schedule == Schedule::automatic ? engine::chosen(steps, call.shape.heads()) : call.schedule;
}

/// Runs `algebra` over all heads of the call in the requested schedule.
template <class Real, class Algebra>
void run_chunks(const std::string &label, const Call<Real> &call, const Algebra &algebra, bool backwards = false) {
  if (call.packed()) throw std::logic_error(label + ": packed texts or grouped heads in a pass without them");
  const engine::Steps steps{call.shape.T, call.chunk, backwards};
  if constexpr (!engine::static_extents_only<Algebra>) static_assert(engine::is_algebra<Algebra>());
  if constexpr (!engine::static_extents_only<Algebra>)
    if (engine::Divides<Algebra>::value || schedule_of(call) == Schedule::streaming)
      return engine::stream(label, call, algebra, steps);
  if constexpr (!engine::Divides<Algebra>::value) engine::three_phases(label, call, algebra, steps);
}

} // namespace recollect
