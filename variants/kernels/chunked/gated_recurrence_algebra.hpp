// SPDX-License-Identifier: Apache-2.0
// The sum of gated_recurrence.hpp, as an algebra for the engine (harness/device/engine.hpp).
#pragma once
#include "harness/device/engine.hpp"
#include "variants/kernels/chunked/decays.hpp"
#include "variants/kernels/chunked/gated_recurrence.hpp"

namespace recollect::variants {

/// Sets W(t,t) = q_t . (u_t k_t), the weight of a step's own write if there is a bonus u.
template <class Real>
RECOLLECT_IN_LINE void weigh_own_pairs(const Team &team, int n, int F, const tile::Matrix<Real> &q, const Real *u,
                                       const tile::Matrix<Real> &k, Real *W, std::ptrdiff_t ldw) {
  each_row(team, n, [=](int t, int first, int side) {
    Real own = 0;
    for (int j = first; j < F; j += side) own += q(t, j) * u[size_t(t) * F + j] * k(t, j);
    own = across_row(own, [](Real a, Real b) { return a + b; });
    if (first == 0) W[t * ldw + t] = own;
  });
}

/// The state S and the normaliser z, and how a chunk changes them. Also the base of the adjoint
/// (gated_recurrence_backward.hpp), because the state's gradient decays in the same way.
template <class Number> struct DecayedState {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = true, places = true;
  static constexpr bool fetches = false;
  GatedRecurrence<Real> in;
  int T, C, V; // steps, steps per chunk, width of v and o
  Array<Real> state;
  size_t state_stride; // numbers per head of `state`: rows of S [V,F], then z
  int decays = in.lambda.extent(0)  ? 2
               : in.alpha.extent(0) ? 1
                                    : 0; // 2: one decay per channel, 1: one number per step, 0: none

  struct Summary {
    // added  [F,V] what the chunk adds to S, transposed, for products along V; then [F] what it adds to z
    Real *added;
    Real *carried; // [0, 1 or F] D(C,0)
  };
  struct Carrying {};

  KOKKOS_FUNCTION bool has_sizes(int size) const { return in.width == size && C == size && V == size; }
  static constexpr int kinds = 3;
  static constexpr bool all_precisions = true;
  KOKKOS_FUNCTION int kind() const { return decays; }
  KOKKOS_FUNCTION void set_sizes(int size, int kind) { in.width = C = V = size, decays = kind; }
  KOKKOS_FUNCTION int decay_width() const { return decays == 2 ? in.width : decays; }
  KOKKOS_FUNCTION bool bare_keys() const { return decay_width() == 0 && !in.strength.extent(0); }
  KOKKOS_FUNCTION size_t elements() const { return size_t(in.width) * V; }
  KOKKOS_FUNCTION size_t state_size() const { return elements() + (in.normalised ? in.width : 0); }
  KOKKOS_FUNCTION int parts() const { return in.width < 16 ? in.width : 16; }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const { return {s.take(state_size()), s.take(decay_width())}; }
  KOKKOS_FUNCTION Carrying carrying(Stack<Real> &) const { return {}; }

  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *S) const {
    const Real *from = state.data() + head * state_stride;
    tile::transpose(team, V, in.width, from, in.width, S, V);
    if (in.normalised) each(team, in.width, [=, *this](int j) { S[elements() + j] = from[elements() + j]; });
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *S) const {
    Real *to = state.data() + head * state_stride;
    tile::transpose(team, in.width, V, S, V, to, in.width);
    if (in.normalised) each(team, in.width, [=, *this](int j) { to[elements() + j] = S[elements() + j]; });
  }

  KOKKOS_FUNCTION Real *place(size_t head, size_t at) const {
    const size_t row = at % V, column = at / V; // of S
    return state.data() + head * state_stride + (at < elements() ? row * in.width + column : at);
  }

  RECOLLECT_IN_LINE void state_passing(const Team &team, const Chunk &, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Carrying &) const {
    const int begin = part.begin(in.width), V = this->V;
    const size_t z = elements();
    each_cell(team, part.end(in.width) - begin, V + in.normalised, [=, *this](int row, int c) {
      const int j = begin + row;
      const size_t at = c < V ? size_t(j) * V + c : z + j;
      after[at] = carried(chunk, j) * before[at] + chunk.added[at];
    });
  }
  KOKKOS_FUNCTION Affine<Real> affine(const Summary &chunk, size_t at) const {
    const int j = at < elements() ? int(at) / V : int(at - elements());
    return {carried(chunk, j), chunk.added[at]};
  }

private:
  /// The factor with which row j of the previous state survives the chunk.
  KOKKOS_FUNCTION Real carried(const Summary &chunk, int j) const {
    const int width = decay_width();
    return width == 0 ? Real(1) : chunk.carried[width > 1 ? j : 0];
  }
};

template <class Number> struct GatedRecurrenceAlgebra : DecayedState<Number> {
  using Real = Number;
  using State = DecayedState<Real>;
  using State::bare_keys, State::decay_width, State::elements;
  using State::in, State::T, State::C, State::V;
  using typename State::Summary; // added: sum of v_i (D(C,i) k_i)^T, then sum of D(C,i) k_i
  Array<Real> v, o;
  Array<Real> weights = {}; // [B,H,T] receives scale z_t . q_t, if normalised; empty: not wanted

  struct Summarising {
    Decays<Real> decays;
    // gates  [C,F] alpha_t lambda_t, if both are given
    // keys   [C,F] strength_i D(C,i) k_i, in the buffer of k if there is one
    Real *gates, *keys;
    Real *k, *v; // buffers of the operands with these names (tile::stage())
  };
  struct Reading {
    Decays<Real> decays;
    // gates    [C,F] alpha_t lambda_t, if both are given
    // decayed  [C,F] q_t decayed in its block, then D(t,0) q_t, in the buffer of q if there is one
    Real *gates, *decayed;
    Real *weights;       // [C,C] q_t . D(t,i) k_i, times strength_i, for i <= t
    Real *divisor;       // [C] by which the sums are divided, if normalised
    Real *q, *k, *v, *S; // buffers of the operands with these names (tile::stage())
  };

  KOKKOS_FUNCTION bool both_gates() const { return State::decays == 2 && in.alpha.extent(0); }

  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &s) const {
    Summarising x;
    x.decays.place(s, C, in.width, decay_width());
    x.gates = both_gates() ? s.take(size_t(C) * in.width) : nullptr;
    x.k = decay_width() > 1 ? nullptr : tile::buffer(s, C, in.width);
    x.keys = x.k ? x.k : bare_keys() ? nullptr : s.take(C * tile::pitch<Real>(in.width));
    x.v = tile::buffer(s, C, V);
    return x;
  }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    Reading x;
    const bool channels = decay_width() > 1;
    x.decays.place(s, C, in.width, decay_width());
    x.gates = both_gates() ? s.take(size_t(C) * in.width) : nullptr;
    x.weights = s.take(C * tile::pitch<Real>(C));
    x.divisor = in.normalised ? s.take(C) : nullptr;
    x.q = channels ? nullptr : tile::buffer(s, C, in.width);
    x.decayed = x.q ? x.q : decay_width() ? s.take(C * tile::pitch<Real>(in.width)) : nullptr;
    x.k = channels ? nullptr : tile::buffer(s, C, in.width);
    x.v = tile::buffer(s, C, V);
    x.S = tile::buffer(s, in.width, V);
    return x;
  }

  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_local(const AnyTeam &team, const Chunk &c, const Summary &out, Summarising x) const {
    const int F = in.width, n = c.n;
    const size_t step = c.head * T + c.first;
    const Real *k = in.k.data() + step * F, *strength = in.strength.extent(0) ? in.strength.data() + step : nullptr;
    const auto values = tile::stage(team, n, V, v.data() + step * V, V, x.v);
    const auto given = decay_width() > 1 ? tile::rows(k, F) : tile::stage(team, n, F, k, F, x.k);
    prepare(team, step, n, x.gates, x.decays); // overlaps with the copies
    if (!bare_keys()) {
      if (x.k) team.barrier();
      x.decays.to_end(team, given.data, given.row, strength, x.keys, tile::pitch<Real>(F));
    }
    const auto keys = bare_keys() ? given : tile::rows<Real>(x.keys, tile::pitch<Real>(F));
    team.barrier();
    tile::gemm(team, F, V, n, Real(1), tile::transposed(keys.data, keys.row), values, Real(0), out.added, V);
    Real *z = out.added + elements();
    if (in.normalised)
      each(team, F, [=](int j) {
        Real sum = 0;
        for (int i = 0; i < n; ++i) sum += keys(i, j);
        z[j] = sum;
      });
    each(team, decay_width(), [&](int j) { out.carried[j] = x.decays.total(j); });
  }

  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_output(const AnyTeam &team, const Chunk &c, const Summary &, const Real *before,
                                      Reading x) const {
    const int F = in.width, n = c.n, width = decay_width(), V = this->V;
    const size_t step = c.head * T + c.first;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), ldw = tile::pitch<Real>(C);
    const Real *q = in.q.data() + step * F, *k = in.k.data() + step * F;
    const Real *strength = in.strength.extent(0) ? in.strength.data() + step : nullptr;
    const bool reads_first = in.bonus.extent(0);
    const Reads reads{n, reads_first ? 0 : 1, 1};
    const auto values = tile::stage(team, n, V, v.data() + step * V, V, x.v);
    const auto S = tile::stage(team, F, V, before, V, x.S);
    const auto queries = width > 1 ? tile::rows(q, F) : tile::stage(team, n, F, q, F, x.q);
    const auto keys = width > 1 ? tile::rows(k, F) : tile::stage(team, n, F, k, F, x.k);
    prepare(team, step, n, x.gates, x.decays); // overlaps with the copies
    if (width > 1) x.decays.from_start(team, reads, q, F, x.decayed, ld, true);
    team.barrier();
    x.decays.weights(team, reads, queries.data, queries.row, x.decayed, ld, keys.data, keys.row, nullptr, strength,
                     x.weights, ldw);
    if (reads_first) {
      weigh_own_pairs(team, n, F, tile::rows(q, F), in.bonus.data() + step * F, tile::rows(k, F), x.weights, ldw);
    }
    if (width) x.decays.from_start(team, reads, queries.data, queries.row, x.decayed, ld);
    team.barrier();
    const auto started = width ? tile::rows<Real>(x.decayed, ld) : queries;
    if (in.normalised) {
      const Real *z = before + elements(), *floor = in.floor.extent(0) ? in.floor.data() + step : nullptr,
                 scale = in.scale;
      Real *const kept = weights.extent(0) ? weights.data() + step : nullptr;
      each_row(team, n, [=](int t, int first, int side) {
        Real weight = 0;
        if constexpr (on_host)
          weight = dot(started.data + t * started.row, z, F);
        else
          for (int j = first; j < F; j += side) weight += started(t, j) * z[j];
        for (int i = first; i <= t; i += side) weight += x.weights[t * ldw + i];
        weight = across_row(weight, [](Real a, Real b) { return a + b; });
        if (kept && first == 0) kept[t] = scale * weight;
        if (first == 0) x.divisor[t] = floor ? math::fmax(math::fabs(scale * weight), floor[t]) : scale * weight;
      });
    }
    Real *out = o.data() + step * V;
    tile::Product<Real> own{tile::rows<Real>(x.weights, ldw), values, n};
    own.given = tile::Staircase{1, 1};
    tile::gemm(team, n, V, in.scale, tile::Product<Real>{started, S, F}, own, Real(0), out, V);
    if (!in.normalised) return;
    team.barrier();
    each_row(team, n, [=](int t, int first, int side) {
      for (int i = first; i < V; i += side)
        out[size_t(t) * V + i] = weighted_mean(out[size_t(t) * V + i], x.divisor[t]);
    });
  }

private:
  /// Prepares the decays of n steps from `step` on.
  RECOLLECT_IN_LINE void prepare(const Team &team, size_t step, int n, Real *gates, Decays<Real> &decays) const {
    const int F = in.width;
    const Real *alpha = in.alpha.data() + (in.alpha.extent(0) ? step : 0),
               *lambda = in.lambda.data() + (State::decays == 2 ? step * F : 0);
    if (both_gates()) {
      each_cell(team, n, F, [=](int t, int j) { gates[size_t(t) * F + j] = alpha[t] * lambda[size_t(t) * F + j]; });
      team.meet();
    }
    decays.prepare(team, n, both_gates() ? gates : State::decays == 2 ? lambda : alpha);
  }
};

} // namespace recollect::variants

#ifdef __CUDACC__
namespace recollect::engine { // compiled separately: cmake/instances.cmake
RECOLLECT_SCHEDULES(extern, variants::GatedRecurrenceAlgebra<float>)
RECOLLECT_SCHEDULES(extern, variants::GatedRecurrenceAlgebra<double>)
} // namespace recollect::engine
#endif
