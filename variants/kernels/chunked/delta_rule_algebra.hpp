// SPDX-License-Identifier: Apache-2.0
// The delta rule of delta_rule.hpp, as an algebra for the engine (harness/device/engine.hpp).
//
// Let L(t,i) = erase_t r_t . D(t-1,i) p_i for i < t. The errors are the rows of E = U - W S_0, where (I + L) U has the
// rows write_t v_t, and (I + L) W the rows erase_t D(t-1,0) r_t. The chunk-local phase solves for U and W, so that
// state passing takes only two products. In the streaming schedule, state passing solves instead, for U - W S_0 as a
// whole. On a CPU, state passing always solves: there the schedule depends on the number of threads, and results must
// not.
//
// A backward pass needs the states at the chunks' starts and the errors. For it, the forward kernels save these
// (SavedRule) instead of computing outputs.
#pragma once
#include "harness/device/chunk_states.hpp"
#include "harness/device/engine.hpp"
#include "harness/device/tile/transposed.hpp"
#include "variants/kernels/chunked/decays.hpp"
#include "variants/kernels/chunked/delta_rule.hpp"
#include "variants/kernels/chunked/delta_rule_state.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// Whether the chunk-local phase solves for W and U; otherwise state passing solves.
template <class Real> bool solves_ahead(const Call<Real> &call) {
  return !on_host && schedule_of(call) == Schedule::three_phase;
}

/// Arrays that a forward pass saves.
template <class Real> struct SavedRule {
  ChunkStates<Real> starts = {};
  // [B,H,T,F+V] For each step F numbers of W (of erase_t D(t-1,0) r_t, if state passing solves), then the V numbers of
  // e_t.
  Array<Real> X = {};
};

template <class Number> struct DeltaRuleAlgebra {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = false;
  static constexpr bool fetches = true;
  DeltaRule<Real> in;
  int T, C, F, V; // tokens, tokens per chunk, key width, value width
  Array<Real> q, v, o, state;
  size_t state_stride; // numbers per head of `state`, which starts with S [V,F]
  bool ahead;          // solve in chunk_local, not in state_passing
  int decays = in.lambda.extent(0)  ? 2
               : in.alpha.extent(0) ? 1
                                    : 0; // 2: one decay per channel, 1: one number per step, 0: none
  bool own_keys = in.keys.extent(0) > 0;
  SavedRule<Real> saved = {}; // without X only the states are saved, in the layer's layout [V,F]

  // N is the number of writes in a chunk.
  struct Summary {
    Real *X;       // [N,F+V] first W and U or their right-hand sides, finally W and e_t; null: rows of saved.X
    Real *L;       // [N,N], if state passing solves
    Real *ends;    // [N,F] D(C,i) p_i, unless no decay is given
    Real *carried; // [1 or F] D(C,0)
    Real *added;   // [F,V] sum of v_i (D(C,i) k_i)^T, transposed, if values have separate keys
  };
  struct Summarising {
    Decays<Real> decays;
    Real *within; // [N,F] r_t decayed within its block, where channels decay
    // L  [N,N] erase_t r_t . D(t-1,i) p_i
    // M  [N,N] erase_t r_t . D(t-1,i) k_i, if values have separate keys k_i
    Real *L, *M;
    Real *ends;              // [N,F] D(C,i) k_i
    Real *X, *r, *p, *k, *v; // buffers of the operands with these names (tile::stage())
  };
  using Carrying = typename DeltaRuleState<Real>::Buffers;
  struct Reading {
    Decays<Real> decays;
    Real *decayed; // [C,F] q_t decayed within its block, then D(t,0) q_t
    // A  [C,N] q_t . D(t,i) p_i
    // B  [C,N] q_t . D(t,i) k_i, if values have separate keys k_i
    Real *A, *B;
    Real *q, *p, *k, *v, *S, *E; // buffers of the operands with these names (tile::stage())
  };

  KOKKOS_FUNCTION bool has_sizes(int size) const {
    return F == size && C == size && V == size && in.steps == 1 && ahead && own_keys == (decays == 2);
  }
  static constexpr int kinds = 3;
  static constexpr bool all_precisions = true;
  KOKKOS_FUNCTION int kind() const { return decays; }
  KOKKOS_FUNCTION void set_sizes(int size, int kind) {
    F = C = V = size, in.steps = 1, ahead = true, decays = kind, own_keys = kind == 2;
  }
  KOKKOS_FUNCTION int most() const { return C * in.steps; }
  KOKKOS_FUNCTION int width() const { return decays == 2 ? F : decays; }
  KOKKOS_FUNCTION bool one_key() const { return in.r.data() == in.p.data(); } // one key both reads and writes
  KOKKOS_FUNCTION size_t state_size() const { return size_t(F) * V; }
  KOKKOS_FUNCTION DeltaRuleState<Real> across() const { return {most(), F, V, ahead, own_keys}; }
  KOKKOS_FUNCTION int parts() const { return across().parts(); }
  KOKKOS_FUNCTION int buffers() const { return across().buffers(); }
  KOKKOS_FUNCTION std::ptrdiff_t ldx() const { return F + V; }

  KOKKOS_FUNCTION bool saves() const { return saved.starts.size > 0; }
  ChunkStates<Real> saved_states() const { return saved.X.extent(0) ? saved.starts : ChunkStates<Real>(); }
  bool reads_nothing() const { return saves(); }

  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const {
    Summary x{};
    x.X = saved.X.extent(0) ? nullptr : s.take(most() * ldx());
    x.L = ahead ? nullptr : s.take(size_t(most()) * most());
    x.ends = width() ? s.take(size_t(most()) * F) : nullptr;
    x.carried = s.take(width());
    x.added = own_keys ? s.take(state_size()) : nullptr;
    return x;
  }
  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &s) const {
    const int N = most();
    Summarising x;
    x.decays.place(s, N, F, width());
    x.within = width() > 1 ? s.take(N * tile::pitch<Real>(F)) : nullptr;
    x.L = ahead ? s.take(N * tile::pitch<Real>(N)) : nullptr;
    x.M = own_keys ? s.take(N * tile::pitch<Real>(N)) : nullptr;
    x.ends = own_keys && width() ? s.take(N * tile::pitch<Real>(F)) : nullptr;
    x.X = tile::buffer(s, N, F + V);
    x.r = width() > 1 ? nullptr : tile::buffer(s, N, F);
    x.p = width() > 1 || one_key() ? nullptr : tile::buffer(s, N, F);
    x.k = own_keys && width() <= 1 ? tile::buffer(s, N, F) : nullptr;
    x.v = own_keys ? tile::buffer(s, C, V) : nullptr;
    return x;
  }
  KOKKOS_FUNCTION Carrying carrying(Stack<Real> &s) const { return across().place(s); }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    const int N = most();
    const bool channels = width() > 1;
    Reading x{};
    if (saves()) return x;
    x.decays.place(s, N, F, width());
    x.A = s.take(C * tile::pitch<Real>(N));
    x.B = own_keys ? s.take(C * tile::pitch<Real>(N)) : nullptr;
    x.q = channels ? nullptr : tile::buffer(s, C, F);
    x.decayed = x.q ? x.q : width() ? s.take(C * tile::pitch<Real>(F)) : nullptr;
    x.p = channels ? nullptr : tile::buffer(s, N, F);
    x.k = own_keys && !channels ? tile::buffer(s, N, F) : nullptr;
    x.v = own_keys ? tile::buffer(s, C, V) : nullptr;
    x.S = tile::buffer(s, F, V);
    x.E = tile::buffer(s, N, V);
    return x;
  }

  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *S) const {
    tile::transpose(team, V, F, state.data() + head * state_stride, F, S, V);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *S) const {
    if (saves()) return; // the layer's state stays as it was given
    tile::transpose(team, F, V, S, V, state.data() + head * state_stride, F);
  }

  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_local(const AnyTeam &team, const Chunk &c, const Summary &out, Summarising x) const {
    const int N = c.n * in.steps, steps = in.steps;
    const size_t token = c.head * T + c.first, step = token * steps;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), ldl = ahead ? tile::pitch<Real>(most()) : N,
                         ldm = tile::pitch<Real>(most());
    const Real *erase = at(in.erase, step), *write = at(in.write, step), *values = v.data() + token * V;
    Real *const rows = this->rows(c, out), *const X = on_host ? rows : x.X;
    const std::ptrdiff_t ldx = on_host ? this->ldx() : tile::pitch<Real>(F + V);
    const bool fetched = !on_host && steps == 1 && !own_keys; // the values are copied during work on the keys
    if (fetched) tile::copy<Real>(team, N, V, values, V, X + F, ldx);
    const Reads reads{N, 0, 1};
    const auto r = staged(team, N, in.r.data() + step * F, x.r),
               p = one_key() ? r : staged(team, N, in.p.data() + step * F, x.p);
    x.decays.prepare(team, N, decay(step)); // runs while rows are being copied
    if (width() > 1) x.decays.from_start(team, reads, r.data, r.row, x.within, ld, true);
    team.barrier();
    Real *const L = ahead ? x.L : out.L;
    x.decays.weights(team, reads, r.data, r.row, x.within, ld, p.data, p.row, erase, nullptr, L, ldl);
    x.decays.from_start(team, reads, r.data, r.row, X, ldx, false, erase);
    if (width()) {
      x.decays.to_end(team, p.data, p.row, nullptr, out.ends, F);
      each(team, width(), [&](int j) { out.carried[j] = x.decays.total(j); });
    }
    const int F = this->F, V = this->V;
    if (fetched) {
      if (write)
        each_row(team, N, [=](int t, int first, int side) {
          const Real own = write[t];
          for (int i = first; i < V; i += side) X[t * ldx + F + i] *= own;
        });
    } else if (!own_keys) {
      each_cell(team, N, V, [=](int t, int i) {
        X[t * ldx + F + i] = (write ? write[t] : Real(1)) * values[size_t(t / steps) * V + i];
      });
    } else {
      const auto k = staged(team, N, in.keys.data() + step * F, x.k), value = tile::stage(team, N, V, values, V, x.v);
      team.barrier();
      x.decays.weights(team, reads, r.data, r.row, x.within, ld, k.data, k.row, erase, nullptr, x.M, ldm);
      tile::gemm_lower<Real>(team, N, V, Real(-1), x.M, ldm, value, Real(0), X + F, ldx, reads.staircase());
      if (width()) x.decays.to_end(team, k.data, k.row, nullptr, x.ends, ld);
      team.barrier();
      tile::gemm(team, F, V, N, Real(1), width() ? tile::transposed<Real>(x.ends, ld) : tile::transposed(k.data, k.row),
                 value, Real(0), out.added, V);
    }
    team.barrier();
    if (ahead) tile::solve_unit_lower(team, N, F + V, L, ldl, X, ldx);
    if (!on_host) tile::copy<Real>(team, N, F + V, X, ldx, rows, this->ldx());
  }

  RECOLLECT_IN_LINE void fetch(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                               const Carrying &x) const {
    across().fetch(team, factors(c, chunk), part, x);
  }
  template <class AnyTeam>
  RECOLLECT_IN_LINE void state_passing(const AnyTeam &team, const Chunk &c, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Carrying &x) const {
    const int N = c.n * in.steps;
    across()(team, factors(c, chunk), Real(-1), {chunk.carried, width()}, part, before, after, x,
             [&](Real *E, std::ptrdiff_t lde, int columns) {
               if (!ahead) tile::solve_unit_lower(team, N, columns, chunk.L, N, E, lde);
             });
  }

  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_output(const AnyTeam &team, const Chunk &c, const Summary &chunk, const Real *before,
                                      Reading x) const {
    if (saves()) return save_state(team, c, before);
    const int N = c.n * in.steps, n = c.n, width = this->width();
    const size_t token = c.head * T + c.first, step = token * in.steps;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), lda = tile::pitch<Real>(most());
    const Reads reads{n, in.steps, in.steps};
    const auto q = staged(team, n, this->q.data() + token * F, x.q), p = staged(team, N, in.p.data() + step * F, x.p);
    const auto S = tile::stage(team, F, V, before, V, x.S), E = tile::stage<Real>(team, N, V, chunk.X + F, ldx(), x.E);
    x.decays.prepare(team, N, decay(step)); // runs while rows are being copied
    if (width > 1) x.decays.from_start(team, reads, q.data, q.row, x.decayed, ld, true);
    team.barrier();
    x.decays.weights(team, reads, q.data, q.row, x.decayed, ld, p.data, p.row, nullptr, nullptr, x.A, lda);
    tile::Product<Real> written{tile::rows<Real>(x.A, lda), E, N};
    written.given = reads.staircase();
    tile::Matrix<Real> value{};
    if (own_keys) {
      const auto k = staged(team, N, in.keys.data() + step * F, x.k);
      value = tile::stage(team, n, V, v.data() + token * V, V, x.v);
      team.barrier();
      x.decays.weights(team, reads, q.data, q.row, x.decayed, ld, k.data, k.row, nullptr, nullptr, x.B, lda);
    }
    if (width) x.decays.from_start(team, reads, q.data, q.row, x.decayed, ld);
    team.barrier();
    const auto started = width ? tile::rows<Real>(x.decayed, ld) : q;
    Real *out = o.data() + token * V;
    tile::gemm(team, n, V, Real(1), tile::Product<Real>{started, S, F}, written, Real(0), out, V);
    if (!own_keys) return;
    team.barrier();
    tile::gemm_lower<Real>(team, n, V, Real(1), x.B, lda, value, Real(1), out, V, reads.staircase());
  }

private:
  /// Matrices of the chunk's state update: E = U - W S, and the keys D(C,i) p_i.
  KOKKOS_FUNCTION typename DeltaRuleState<Real>::Factors factors(const Chunk &c, const Summary &chunk) const {
    const Real *ends = width() ? chunk.ends : in.p.data() + (c.head * T + c.first) * in.steps * F;
    Real *const X = rows(c, chunk);
    return {c.n * in.steps, X, ldx(), ends, F, X + F, ldx(), chunk.added};
  }
  KOKKOS_FUNCTION Real *rows(const Chunk &c, const Summary &chunk) const {
    return chunk.X ? chunk.X : saved.X.data() + (c.head * T + c.first) * in.steps * ldx();
  }
  KOKKOS_FUNCTION void save_state(const Team &team, const Chunk &c, const Real *S) const {
    if (saved.X.extent(0))
      saved.starts.keep(team, c, S);
    else
      tile::transpose(team, F, V, S, V, saved.starts.of(c), F);
  }
  KOKKOS_FUNCTION static const Real *at(const Array<Real> &array, size_t step) {
    return array.extent(0) ? array.data() + step : nullptr;
  }
  KOKKOS_FUNCTION const Real *decay(size_t step) const {
    return decays == 2 ? in.lambda.data() + step * F : at(in.alpha, step);
  }
  /// Keys of a chunk, copied to the team's memory `buffer`. If `buffer` is null, the keys are read from their array.
  RECOLLECT_IN_LINE tile::Matrix<Real> staged(const Team &team, int n, const Real *from, Real *buffer) const {
    return buffer ? tile::stage(team, n, F, from, F, buffer) : tile::rows(from, F);
  }
};

template <class Real> DeltaRuleAlgebra<Real> delta_rule_algebra(const Call<Real> &call, const DeltaRule<Real> &in) {
  const Shape &s = call.shape;
  return {
      in, s.T, call.chunk, s.Dk, s.Dv, call.q, call.v, call.o, call.state, call.state_shape.size(), solves_ahead(call)};
}

} // namespace recollect::variants

#ifdef __CUDACC__
namespace recollect::engine { // compiled separately: cmake/instances.cmake
RECOLLECT_STREAM(extern, variants::DeltaRuleAlgebra<float>)
RECOLLECT_SUMMARISE(extern, variants::DeltaRuleAlgebra<float>)
RECOLLECT_CARRY(extern, variants::DeltaRuleAlgebra<float>)
RECOLLECT_READ(extern, variants::DeltaRuleAlgebra<float>)
RECOLLECT_STREAM(extern, variants::DeltaRuleAlgebra<double>)
RECOLLECT_PHASES(extern, variants::DeltaRuleAlgebra<double>)
} // namespace recollect::engine
#endif
