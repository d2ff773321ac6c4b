// SPDX-License-Identifier: Apache-2.0
// Least squares in information form: the solution of every prefix is computed from two decayed sums, H and B.
//
//   H_t = alpha_t H_{t-1} + k_t k_t^T,   B_t = alpha_t B_{t-1} + v_t k_t^T,   o_t = B_t x_t
//   x_t = (H_t + ridge I)^{-1} q_t
//
// H and B are kept as one sum whose values are [k_t, v_t] (gated_recurrence.hpp), so that all chunks can be summarised
// in parallel. The output phase of a chunk solves for x_t at every step; o_t is then the output of a decayed sum for
// the query x_t instead of q_t.
#pragma once
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/gated_recurrence_algebra.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// Inputs of the solver for the steps of a chunk.
template <class Real> struct Prefixes {
  int n, F;
  Real ridge;
  const Real *alpha; // [n], null: 1
  tile::Matrix<Real> k, q;
  tile::Matrix<Real> H;       // [F,F] the sum H before the chunk
  const Decays<Real> &decays; // of the chunk's steps
};

/// Solves for x_t by one factorisation per step; the steps of a chunk are solved in parallel.
template <class Real> struct Factorisations {
  Real *H, *work;

  KOKKOS_FUNCTION void place(Stack<Real> &s, int, int F, int) {
    H = s.take(size_t(F) * F), work = s.take(tile::prefix_work<Real>(F));
  }
  /// Writes x_t to the rows of X [n,F], which are `ld` apart. The last two arguments are scratch for other solvers. The
  /// caller places barriers before and after.
  RECOLLECT_IN_LINE void solve(const Team &team, const Prefixes<Real> &p, Real *X, std::ptrdiff_t ld, Real *,
                               std::ptrdiff_t) const {
    tile::copy(team, p.F, p.F, p.H.data, p.H.row, H, p.F);
    team.barrier();
    tile::solve_prefixes(team, p.n, p.F, p.ridge, p.alpha, p.k.data, p.k.row, p.q.data, p.q.row, H, X, ld, work);
    team.barrier();
  }
};

template <class Number, template <class> class Solver> struct PrefixRegressionAlgebra {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = true;
  static constexpr bool fetches = false;
  using Sum = GatedRecurrenceAlgebra<Real>;
  Sum sum; // its values are [B,H,T,F + V]
  Real ridge;
  int F, V;
  Array<Real> v, o, state; // state: B [V,F] above H [F,F], the layer's layout

  using Summary = typename Sum::Summary;
  using Summarising = typename Sum::Summarising;
  using Carrying = typename Sum::Carrying;
  struct Reading {
    Decays<Real> decays;
    Solver<Real> solver;
    Real *x;       // [C,F] solutions x_t, later times D(t,0), the decay since the chunk's start
    Real *weights; // [C,C] x_t . D(t,i) k_i for i <= t
    Real *k;       // staged keys; q and v stay in device memory, because shared memory has no more space
  };

  KOKKOS_FUNCTION bool has_sizes(int size) const { return F == size && V == size && sum.C == size; }
  static constexpr int kinds = 2;
  static constexpr bool all_precisions = false; // rounding errors grow with the condition number
  KOKKOS_FUNCTION int kind() const { return sum.decays; }
  KOKKOS_FUNCTION void set_sizes(int size, int kind) {
    F = V = sum.in.width = sum.C = size, sum.V = 2 * size, sum.decays = kind;
  }
  KOKKOS_FUNCTION size_t state_size() const { return sum.state_size(); }
  KOKKOS_FUNCTION int parts() const { return sum.parts(); }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const { return sum.summary(s); }
  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &s) const { return sum.summarising(s); }
  KOKKOS_FUNCTION Carrying carrying(Stack<Real> &s) const { return sum.carrying(s); }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    Reading x;
    x.decays.place(s, sum.C, F, sum.decay_width());
    x.solver.place(s, sum.C, F, sum.decay_width());
    x.x = s.take(sum.C * tile::pitch<Real>(F));
    x.weights = s.take(sum.C * tile::pitch<Real>(sum.C));
    x.k = tile::buffer(s, sum.C, F);
    return x;
  }

  /// The engine's state is [H, B^T], of shape [F,F + V].
  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *to) const {
    const int F = this->F, V = this->V;
    const Real *from = state.data() + head * size_t(F + V) * F;
    each_cell(team, F + V, F,
              [=](int i, int j) { to[size_t(j) * (F + V) + (i < V ? F + i : i - V)] = from[size_t(i) * F + j]; });
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *from) const {
    const int F = this->F, V = this->V;
    Real *to = state.data() + head * size_t(F + V) * F;
    each_cell(team, F + V, F,
              [=](int i, int j) { to[size_t(i) * F + j] = from[size_t(j) * (F + V) + (i < V ? F + i : i - V)]; });
  }

  RECOLLECT_IN_LINE void chunk_local(const Team &team, const Chunk &c, const Summary &out, const Summarising &x) const {
    sum.chunk_local(team, c, out, x);
  }
  RECOLLECT_IN_LINE void state_passing(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Carrying &x) const {
    sum.state_passing(team, c, chunk, part, before, after, x);
  }
  KOKKOS_FUNCTION Affine<Real> affine(const Summary &chunk, size_t at) const { return sum.affine(chunk, at); }

  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &, const Real *before,
                                      Reading x) const {
    const int n = c.n, F = this->F, width = F + V;
    const size_t step = c.head * sum.T + c.first;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), ldw = tile::pitch<Real>(sum.C);
    const Real *alpha = sum.in.alpha.extent(0) ? sum.in.alpha.data() + step : nullptr;
    x.decays.prepare(team, n, alpha);
    const auto k = tile::stage(team, n, F, sum.in.k.data() + step * F, F, x.k);
    const auto q = tile::rows(sum.in.q.data() + step * F, F), v = tile::rows(this->v.data() + step * V, V),
               H = tile::rows(before, width), B = tile::rows(before + F, width);
    team.barrier();
    x.solver.solve(team, {n, F, ridge, alpha, k, q, H, x.decays}, x.x, ld, x.weights, ldw);
    const Reads reads{n, 1, 1};
    x.decays.weights(team, reads, x.x, ld, nullptr, 0, k.data, k.row, nullptr, nullptr, x.weights, ldw);
    if (alpha) x.decays.from_start(team, reads, x.x, ld, x.x, ld);
    team.barrier();
    tile::Product<Real> own{tile::rows<Real>(x.weights, ldw), v, n};
    own.given = reads.staircase();
    tile::gemm(team, n, V, Real(1), tile::Product<Real>{tile::rows<Real>(x.x, ld), B, F}, own, Real(0),
               o.data() + step * V, V);
  }
};

template <class Real> struct KeysBesideValues {
  Array<Real> k, v, out; // k: [B,H,T,F]; v: [B,H,T,V]; out: [B,H,T,F + V]
  int F, V;
  KOKKOS_FUNCTION void operator()(int step, int first, int side) const {
    Real *to = out.data() + size_t(step) * (F + V);
    for (int j = first; j < F; j += side) to[j] = k(size_t(step) * F + j);
    for (int j = first; j < V; j += side) to[F + j] = v(size_t(step) * V + j);
  }
};

/// Starts from `state`, which has B [V,F] above H [F,F] for every head, and leaves the final state there. Reads call.q,
/// call.k, call.v and, if `decays`, call.alpha; writes call.o.
template <class Algebra, class Real>
void prefix_regression(const std::string &label, const Call<Real> &call, Real ridge, bool decays,
                       const Array<Real> &state) {
  const int F = call.shape.Dk, V = call.shape.Dv;
  const Array<Real> values = allocate(call, call.steps() * (F + V));
  each_row("keys_beside_values", int(call.steps()), F + V, KeysBesideValues<Real>{call.k, call.v, values, F, V});
  const GatedRecurrence<Real> sum{F, call.q, call.k, decays ? call.alpha : Array<Real>(), {}};
  Algebra algebra{};
  algebra.sum = {{sum, call.shape.T, call.chunk, F + V, {}, 0}, values, {}};
  algebra.ridge = ridge, algebra.F = F, algebra.V = V;
  algebra.v = call.v, algebra.o = call.o, algebra.state = state;
  run_chunks(label, call, algebra);
}

} // namespace recollect::variants
