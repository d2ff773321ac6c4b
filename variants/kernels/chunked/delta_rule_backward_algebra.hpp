// SPDX-License-Identifier: Apache-2.0
// The gradients of delta_rule_backward.hpp, as an algebra for the engine (harness/device/engine.hpp). The forward pass
// (SavedRule) saves the states at the chunks' starts, the errors, and W = (I + L)^{-1} (erase_t D(t-1,0) r_t) if it
// computed W. If W is saved, state passing is dS_0 = ... - W^T dE, and chunk_output solves for dY. If one key reads and
// writes (r = p = k), its gradient is the sum of both.
#pragma once
#include "harness/device/tile/called.hpp"
#include "variants/kernels/chunked/delta_rule_algebra.hpp"
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/gate_gradient.hpp"

namespace recollect::variants {

template <class Number> struct DeltaRuleAdjoint {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = false;
  static constexpr bool fetches = true;
  DeltaRule<Real> in;
  DeltaRuleGradient<Real> d;
  int T, C, F, V; // steps, steps per chunk, key width, value width
  Array<Real> q, v, d_o, d_v, d_state;
  size_t state_stride;
  SavedRule<Real> saved;
  bool ahead; // the forward pass solved in chunk_local: then chunk_output solves for dY, else state_passing
  int decays = in.alpha.extent(0) ? 1 : 0; // 1: one number per step, 0: none

  struct Summary {
    Real *dE;      // [C,V] first A^T dO; after state passing dE, or dY if state passing solves
    Real *added;   // [F,V] sum of (D(t,0) q_t) do_t^T
    Real *flipped; // [C,C] L, reordered by tile::flip
    Real *ends;    // [C,F] D(C,i) p_i, if there are decays
    Real *carried; // [0 or 1] D(C,0)
  };
  struct Summarising {
    Decays<Real> decays;
    Real *W;             // [C,C] first L, then A
    Real *queries;       // [C,F] D(t,0) q_t
    Real *q, *r, *p, *o; // buffers of the operands with these names (tile::stage()); o: do
  };
  using Carrying = typename DeltaRuleState<Real>::Buffers;
  struct Reading {
    Decays<Real> decays;
    // dA  [C,C] do_t . e_i, then times D(t,i)
    // dL  [C,C] -dy_t . e_i, then times D(t-1,i), then times erase_t
    Real *dA, *dL;
    // For the decays' gradients. On a GPU, A and L reuse the buffers of o and E.
    // A  [C,C] q_t . p_i
    // L  [C,C] r_t . p_i
    // G  [C+1,C+1] as in gate_gradient.hpp
    Real *A, *L, *G;
    Real *dY;                         // [C,V] rows dy_t, if chunk_output solves
    Real *x;                          // [C,F] rows x_t of delta_rule_backward.hpp
    Real *q, *r, *p, *o, *E, *S, *dS; // buffers of the operands with these names (tile::stage()); o: do
  };

  KOKKOS_FUNCTION int decay_width() const { return decays; }
  KOKKOS_FUNCTION bool one_key() const { return in.r.data() == in.p.data(); }
  KOKKOS_FUNCTION size_t state_size() const { return size_t(F) * V; }
  KOKKOS_FUNCTION std::ptrdiff_t ldx() const { return F + V; }
  KOKKOS_FUNCTION std::ptrdiff_t ldg() const { return C + 1; }
  KOKKOS_FUNCTION bool has_sizes(int size) const { return F == size && C == size && V == size && ahead; }
  static constexpr int kinds = 2;
  static constexpr bool all_precisions = false;
  static constexpr bool reads_alone(int) { return true; }
  KOKKOS_FUNCTION int kind() const { return decays; }
  KOKKOS_FUNCTION void set_sizes(int size, int kind) { F = C = V = size, ahead = true, decays = kind; }
  KOKKOS_FUNCTION DeltaRuleState<Real> across() const { return {C, F, V, ahead, true}; }
  KOKKOS_FUNCTION int parts() const { return across().parts(); }
  KOKKOS_FUNCTION int buffers() const { return across().buffers(); }

  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const {
    return {s.take(size_t(C) * V), s.take(state_size()), s.take(size_t(C) * C),
            decay_width() ? s.take(size_t(C) * F) : nullptr, s.take(decay_width())};
  }
  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &s) const {
    Summarising x;
    x.decays.place(s, C, F, decay_width());
    x.W = s.take(C * tile::pitch<Real>(C));
    x.queries = decay_width() ? s.take(C * tile::pitch<Real>(F)) : nullptr;
    x.q = tile::buffer(s, C, F), x.r = tile::buffer(s, C, F), x.o = tile::buffer(s, C, V);
    x.p = one_key() ? nullptr : tile::buffer(s, C, F);
    return x;
  }
  KOKKOS_FUNCTION Carrying carrying(Stack<Real> &s) const { return across().place(s); }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    Reading x;
    const std::ptrdiff_t square = C * tile::pitch<Real>(C);
    const bool gates = d.alpha.extent(0);
    x.decays.place(s, C, F, decay_width());
    x.dA = s.take(square), x.dL = s.take(square);
    x.G = gates ? s.take(size_t(C + 1) * ldg()) : nullptr;
    x.dY = ahead ? s.take(C * tile::pitch<Real>(V)) : nullptr;
    x.x = s.take(C * tile::pitch<Real>(F));
    x.q = tile::buffer(s, C, F), x.r = tile::buffer(s, C, F);
    x.p = one_key() ? nullptr : tile::buffer(s, C, F);
    const int wider = gates && C > V ? C : V;
    x.o = tile::buffer(s, C, wider), x.E = tile::buffer(s, C, wider);
    x.S = tile::buffer(s, F, V), x.dS = tile::buffer(s, F, V);
    x.A = gates && on_host ? s.take(square) : x.o, x.L = gates && on_host ? s.take(square) : x.E;
    return x;
  }

  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *dS) const {
    tile::transpose(team, V, F, d_state.data() + head * state_stride, F, dS, V);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *dS) const {
    tile::transpose(team, F, V, dS, V, d_state.data() + head * state_stride, F);
  }

  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_local(const AnyTeam &team, const Chunk &c, const Summary &out, Summarising x) const {
    const int n = c.n;
    const size_t step = c.head * T + c.first;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), ldw = tile::pitch<Real>(C);
    const Reads after{n, 1, 1}, before{n, 0, 1};
    x.decays.prepare(team, n, at(in.alpha, step));
    const auto q = tile::stage(team, n, F, this->q.data() + step * F, F, x.q),
               r = tile::stage(team, n, F, in.r.data() + step * F, F, x.r), p = written(team, n, step, r, x.p),
               given = tile::stage(team, n, V, d_o.data() + step * V, V, x.o);
    team.barrier();
    x.decays.weights(team, before, r.data, r.row, nullptr, 0, p.data, p.row, at(in.erase, step), nullptr, x.W, ldw);
    tile::flip(team, n, x.W, ldw, out.flipped, C);
    team.barrier();
    x.decays.weights(team, after, q.data, q.row, nullptr, 0, p.data, p.row, nullptr, nullptr, x.W, ldw);
    if (decay_width()) {
      x.decays.from_start(team, after, q.data, q.row, x.queries, ld);
      x.decays.to_end(team, p.data, p.row, nullptr, out.ends, F);
      once(team, [&] { out.carried[0] = x.decays.total(0); });
    }
    team.barrier();
    tile::called::gemm_lower_transposed(team, n, V, Real(1), x.W, ldw, given, Real(0), out.dE, V);
    const auto queries = decay_width() ? tile::rows<Real>(x.queries, ld) : q;
    tile::called::gemm(team, F, V, n, Real(1), tile::transposed(queries.data, queries.row), given, Real(0), out.added,
                       V);
  }

  RECOLLECT_IN_LINE void fetch(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                               const Carrying &x) const {
    across().fetch(team, factors(c, chunk), part, x);
  }
  template <class AnyTeam>
  RECOLLECT_IN_LINE void state_passing(const AnyTeam &team, const Chunk &c, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Carrying &x) const {
    const int n = c.n;
    across()(team, factors(c, chunk), Real(1), {chunk.carried, decay_width()}, part, before, after, x,
             [&](Real *dE, std::ptrdiff_t lde, int columns) {
               if (!ahead) tile::solve_flipped(team, n, columns, chunk.flipped, C, dE, lde);
             });
  }

  /// `after` is dS_C, the gradient of the state at the chunk's end.
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &chunk, const Real *after,
                                      Reading x) const {
    const int n = c.n, F = this->F, V = this->V;
    const size_t step = c.head * T + c.first;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), lda = tile::pitch<Real>(C), ldy = ahead ? tile::pitch<Real>(V) : V;
    const Reads late{n, 1, 1}, early{n, 0, 1};
    const Real *erase = at(in.erase, step), *write = at(in.write, step);
    Real *const dq = d.q.data() + step * F, *const dp = d.p.data() + step * F, *const dY = ahead ? x.dY : chunk.dE;
    x.decays.prepare(team, n, at(in.alpha, step));
    const auto q = tile::stage(team, n, F, this->q.data() + step * F, F, x.q),
               r = tile::stage(team, n, F, in.r.data() + step * F, F, x.r), p = written(team, n, step, r, x.p),
               given = tile::stage(team, n, V, d_o.data() + step * V, V, x.o),
               E = tile::stage<Real>(team, n, V, saved.X.data() + step * ldx() + F, ldx(), x.E),
               S = tile::stage<Real>(team, F, V, saved.starts.of(c), V, x.S),
               dS = tile::stage(team, F, V, after, V, x.dS);
    if (ahead) {
      tile::copy<Real>(team, n, V, chunk.dE, V, dY, ldy);
      const auto flipped = tile::stage<Real>(team, n, n, chunk.flipped, C, x.dL);
      team.barrier();
      tile::solve_flipped(team, n, V, flipped.data, flipped.row, dY, ldy);
    }
    team.barrier();
    const auto solved = tile::rows<Real>(dY, ldy);
    tile::called::gemm_to_lower(team, n, V, Real(1), given, E, x.dA, lda);
    tile::called::gemm_to_lower(team, n, V, Real(-1), solved, E, x.dL, lda);
    tile::called::gemm(team, n, F, V, Real(1), given, tile::transposed(S.data, S.row), Real(0), dq, F);
    tile::called::gemm(team, n, F, V, Real(-1), solved, tile::transposed(S.data, S.row), Real(0), x.x, ld);
    tile::called::gemm(team, n, F, V, Real(1), E, tile::transposed(dS.data, dS.row), Real(0), dp, F);
    if (x.G) {
      team.barrier();
      tile::called::gemm_to_lower(team, n, F, Real(1), q, p, x.A, lda);
      tile::called::gemm_to_lower(team, n, F, Real(1), r, p, x.L, lda);
      team.barrier();
      fill(team, n, x, q, dq, r, p, dp, erase);
      const auto row = [&](int j) { return dot(S.data + j * S.row, dS.data + j * dS.row, V); };
      const Real across = reduce(team, F, Real(0), row, [](Real a, Real b) { return a + b; });
      once(team, [&] { x.G[n * ldg()] = across; });
      team.barrier();
      gate_gradient(team, n, in.alpha.data() + step, x.G, ldg(), d.alpha.data() + step);
    }
    team.barrier();
    x.decays.apply_decay(team, late, nullptr, nullptr, x.dA, lda);
    x.decays.apply_decay(team, early, nullptr, nullptr, x.dL, lda);
    if (decay_width()) {
      x.decays.from_start(team, late, dq, F, dq, F);
      x.decays.from_start(team, early, x.x, ld, x.x, ld);
      x.decays.to_end(team, dp, F, nullptr, dp, F);
    }
    team.barrier();
    tile::called::gemm_lower<Real>(team, n, F, Real(1), x.dA, lda, p, Real(1), dq, F, late.staircase());
    tile::called::gemm_lower<Real>(team, n, F, Real(1), x.dL, lda, p, Real(1), x.x, ld, early.staircase());
    tile::called::gemm_lower_transposed(team, n, F, Real(1), x.dA, lda, q, Real(1), dp, F);
    team.barrier();
    const Real *values = v.data() + step * V;
    Real *const dv = d_v.data() + step * V, *const d_erase = at(d.erase, step), *const d_write = at(d.write, step);
    each_row(team, n, [=](int t, int first, int side) {
      const Real e = erase ? erase[t] : Real(1), w = write ? write[t] : Real(1), *dy = dY + t * ldy;
      Real *const own = x.x + t * ld;
      const Real erased = d_erase ? row_dot(r.data + t * r.row, own, F, first, side) : Real(0),
                 written = d_write ? row_dot(values + size_t(t) * V, dy, V, first, side) : Real(0);
      for (int j = first; j < F; j += side) own[j] *= e;
      for (int i = first; i < V; i += side) dv[size_t(t) * V + i] = w * dy[i];
      if (erase)
        for (int i = first; i < t; i += side) x.dL[t * lda + i] *= e;
      if (d_erase && first == 0) d_erase[t] = erased;
      if (d_write && first == 0) d_write[t] = written;
    });
    team.barrier();
    tile::called::gemm_lower_transposed(team, n, F, Real(1), x.dL, lda, r, Real(1), dp, F);
    team.barrier();
    Real *const dr = at(d.r, step * F);
    each_cell(team, n, F, [=](int t, int j) {
      if (dr)
        dr[size_t(t) * F + j] = x.x[t * ld + j];
      else
        dp[size_t(t) * F + j] += x.x[t * ld + j];
    });
  }

protected:
  /// Matrices of the update of the state's gradient by DeltaRuleState: A has the rows D(C,i) p_i, B is W, and E is dE.
  KOKKOS_FUNCTION typename DeltaRuleState<Real>::Factors factors(const Chunk &c, const Summary &chunk) const {
    const size_t step = c.head * T + c.first;
    const Real *ends = decay_width() ? chunk.ends : in.p.data() + step * F;
    return {c.n, ends, F, saved.X.data() + step * ldx(), ldx(), chunk.dE, V, chunk.added};
  }
  /// The keys p_t of the n steps. `r` has their keys r_t.
  RECOLLECT_IN_LINE tile::Matrix<Real> written(const Team &team, int n, size_t step, const tile::Matrix<Real> &r,
                                               Real *buffer) const {
    return one_key() ? r : tile::stage(team, n, F, in.p.data() + step * F, F, buffer);
  }
  KOKKOS_FUNCTION static Real *at(const Array<Real> &array, size_t step) {
    return array.extent(0) ? array.data() + step : nullptr;
  }
  /// Fills G of gate_gradient.hpp, except the element that pairs the write before the chunk with the read after the
  /// chunk. On entry dq, x and dp contain only the terms from S_0 and dS_C.
  RECOLLECT_IN_LINE void fill(const Team &team, int n, const Reading &x, const tile::Matrix<Real> &q, const Real *dq,
                              const tile::Matrix<Real> &r, const tile::Matrix<Real> &p, const Real *dp,
                              const Real *erase) const {
    const int F = this->F;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), lda = tile::pitch<Real>(C), ldg = this->ldg();
    each_row(team, n, [=](int t, int first, int side) {
      const bool erases = t + 1 < n; // r_{t+1} reads after step t
      const Real e = erases && erase ? erase[t + 1] : Real(1);
      for (int i = first; i < t; i += side) {
        const std::ptrdiff_t own = t * lda + i, next = own + lda;
        x.G[t * ldg + i + 1] = x.A[own] * x.dA[own] + (erases ? e * (x.L[next] * x.dL[next]) : Real(0));
      }
      Real started = row_dot(q.data + t * q.row, dq + size_t(t) * F, F, first, side);
      if (erases) started += e * row_dot(r.data + (t + 1) * r.row, x.x + (t + 1) * ld, F, first, side);
      const Real left = row_dot(p.data + t * p.row, dp + size_t(t) * F, F, first, side);
      if (first == 0) x.G[t * ldg] = started, x.G[n * ldg + t + 1] = left;
    });
  }
};

} // namespace recollect::variants

#ifdef __CUDACC__
namespace recollect::engine { // compiled separately: cmake/instances.cmake
RECOLLECT_STREAM(extern, variants::DeltaRuleAdjoint<float>)
RECOLLECT_PHASES(extern, variants::DeltaRuleAdjoint<float>)
RECOLLECT_SCHEDULES(extern, variants::DeltaRuleAdjoint<double>)
} // namespace recollect::engine
#endif
