// SPDX-License-Identifier: Apache-2.0
// The gradients of gated_recurrence_backward.hpp, as two algebras for the engine (harness/device/engine.hpp): the
// forward pass, which saves the states at the chunks' starts, and the adjoint, which uses these states from the last
// chunk to the first. A normaliser is one more column of the sum, with values 1 and output gradient dw. It adds a term
// to each of do_t . v_i, do_t . S_0 and dS_C . v_i. Its values are constant and have no gradient.
#pragma once
#include "harness/device/tile/transposed.hpp"
#include "variants/kernels/chunked/channel_gradient.hpp"
#include "variants/kernels/chunked/gate_gradient.hpp"
#include "variants/kernels/chunked/gated_recurrence_algebra.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"

namespace recollect::variants {

/// With one decay per channel, gradients need shorter chunks than outputs alone.
template <class State> struct InShortChunks : State {
  KOKKOS_FUNCTION static constexpr int static_steps(int kind) {
    return kind == 2 ? ChannelGradient<typename State::Real>::most : engine::static_size;
  }
  static constexpr bool all_precisions = false;
  KOKKOS_FUNCTION bool has_sizes(int size) const {
    return this->in.width == size && this->V == size && this->C == static_steps(this->decays);
  }
  KOKKOS_FUNCTION void set_sizes(int size, int kind) {
    State::set_sizes(size, kind);
    this->C = static_steps(kind);
  }
};

/// The forward pass, which saves the states at the chunks' starts. It computes outputs only if `reads` is true.
template <class Number> struct GatedRecurrenceSaving : InShortChunks<GatedRecurrenceAlgebra<Number>> {
  using Base = GatedRecurrenceAlgebra<Number>;
  using typename Base::Reading;
  using typename Base::Summary;
  ChunkStates<Number> starts;
  bool reads;

  KOKKOS_FUNCTION Reading reading(Stack<Number> &s) const { return reads ? Base::reading(s) : Reading{}; }
  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_output(const AnyTeam &team, const Chunk &c, const Summary &chunk, const Number *before,
                                      const Reading &x) const {
    starts.keep(team, c, before);
    if (reads) Base::chunk_output(team, c, chunk, before, x);
  }
  static constexpr bool keeps_start = true;
  const ChunkStates<Number> &saved_states() const { return starts; }
  bool reads_nothing() const { return !reads; }
};

/// The adjoint. Its `state` is the gradient of the recurrence's state.
template <class Number> struct GatedRecurrenceAdjoint : InShortChunks<DecayedState<Number>> {
  using Real = Number;
  using State = InShortChunks<DecayedState<Real>>;
  using State::bare_keys, State::decay_width, State::elements;
  using State::in, State::T, State::C, State::V;
  using typename State::Summary; // added: sum of scale D(t,0) q_t do_t^T, then the same sum for dz
  GatedRecurrenceGradient<Real> d;
  Array<Real> v, d_o, d_v;
  ChunkStates<Real> starts;
  Array<Real> d_weight; // [B,H,T] gradient with respect to scale z_t . q_t, if normalised

  struct Summarising {
    Decays<Real> decays;
    Real *queries; // [C,F] D(t,0) q_t
    Real *q, *o;   // buffers of q and do (tile::stage())
  };
  struct Reading {
    Decays<Real> decays;
    // A   [C,C] scale q_t . k_i, then times D(t,i) strength_i; if channels decay, q_t . D(t,i) k_i
    // dA  [C,C] do_t . v_i, then (unless channels decay) times D(t,i), then times strength_i
    Real *A, *dA;
    // within  [C,F] if channels decay: q_t decayed within its block
    // across  [F] if channels decay: inner products of the rows of dS_C and S_0
    Real *within, *across;
    Real *G;                      // [C+1,C+1] as in gate_gradient.hpp
    Real *keys;                   // [C,F] strength_i D(C,i) k_i
    Real *q, *k, *v, *o, *S, *dS; // buffers of the operands with these names (tile::stage()); o: do
  };

  static constexpr bool reads_alone(int kind) { return kind < 2; }
  KOKKOS_FUNCTION bool channels() const { return State::decays == 2; }
  /// With a bonus, the pair of a step with itself has a separate weight, so query t reads after t steps instead of t +
  /// 1.
  KOKKOS_FUNCTION Reads reads(int n) const { return {n, in.bonus.extent(0) ? 0 : 1, 1}; }
  KOKKOS_FUNCTION std::ptrdiff_t ldg() const { return C + 1; }

  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &s) const {
    Summarising x;
    x.decays.place(s, C, in.width, decay_width());
    x.queries = decay_width() ? s.take(C * tile::pitch<Real>(in.width)) : nullptr;
    x.q = decay_width() ? nullptr : tile::buffer(s, C, in.width);
    x.o = tile::buffer(s, C, V);
    return x;
  }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    Reading x;
    x.decays.place(s, C, in.width, decay_width());
    x.within = channels() ? s.take(C * tile::pitch<Real>(in.width)) : nullptr;
    x.across = channels() ? s.take(in.width) : nullptr;
    x.A = s.take(C * tile::pitch<Real>(C));
    x.dA = s.take(C * tile::pitch<Real>(C));
    x.G = d.alpha.extent(0) ? s.take(size_t(C + 1) * ldg()) : nullptr;
    x.keys = bare_keys() ? nullptr : s.take(C * tile::pitch<Real>(in.width));
    x.q = tile::buffer(s, C, in.width), x.k = tile::buffer(s, C, in.width);
    x.v = tile::buffer(s, C, V), x.o = tile::buffer(s, C, V);
    x.S = tile::buffer(s, in.width, V), x.dS = tile::buffer(s, in.width, V);
    return x;
  }

  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_local(const AnyTeam &team, const Chunk &c, const Summary &out, Summarising x) const {
    const int F = in.width, n = c.n;
    const size_t step = c.head * T + c.first;
    const std::ptrdiff_t ld = tile::pitch<Real>(F);
    const Real *q = in.q.data() + step * F;
    x.decays.prepare(team, n, decay(step));
    const auto do_ = tile::stage(team, n, V, d_o.data() + step * V, V, x.o);
    if (x.queries) x.decays.from_start(team, reads(n), q, F, x.queries, ld);
    const auto queries = x.queries ? tile::rows<Real>(x.queries, ld) : tile::stage(team, n, F, q, F, x.q);
    team.barrier();
    tile::gemm(team, F, V, n, in.scale, tile::transposed(queries.data, queries.row), do_, Real(0), out.added, V);
    if (in.normalised) {
      const Real *dw = d_weight.data() + step, scale = in.scale;
      Real *const dz = out.added + elements();
      each(team, F, [=](int j) {
        Real sum = 0;
        for (int t = 0; t < n; ++t) sum += dw[t] * queries(t, j);
        dz[j] = scale * sum;
      });
    }
    each(team, decay_width(), [&](int j) { out.carried[j] = x.decays.total(j); });
  }

  /// `after` is dS_C, the gradient of the state at the chunk's end.
  template <class AnyTeam>
  RECOLLECT_IN_LINE void chunk_output(const AnyTeam &team, const Chunk &c, const Summary &, const Real *after,
                                      Reading x) const {
    const int F = in.width, n = c.n, V = this->V;
    const size_t step = c.head * T + c.first;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), lda = tile::pitch<Real>(C);
    const Real *strength = in.strength.extent(0) ? in.strength.data() + step : nullptr, scale = in.scale;
    const Reads reads = this->reads(n);
    Real *const dq = d.q.data() + step * F, *const dk = d.k.data() + step * F, *const dv = d_v.data() + step * V;
    x.decays.prepare(team, n, decay(step));
    const auto q = tile::stage(team, n, F, in.q.data() + step * F, F, x.q),
               k = tile::stage(team, n, F, in.k.data() + step * F, F, x.k);
    const auto values = tile::stage(team, n, V, v.data() + step * V, V, x.v),
               do_ = tile::stage(team, n, V, d_o.data() + step * V, V, x.o);
    const auto S = tile::stage<Real>(team, F, V, starts.of(c), V, x.S), dS = tile::stage(team, F, V, after, V, x.dS);
    if (!bare_keys()) x.decays.to_end(team, in.k.data() + step * F, F, strength, x.keys, ld);
    const auto keys = bare_keys() ? k : tile::rows<Real>(x.keys, ld);
    team.barrier();
    tile::gemm_to_lower(team, n, V, Real(1), do_, values, x.dA, lda);
    tile::gemm(team, n, F, V, Real(1), do_, tile::transposed(S.data, S.row), Real(0), dq, F);
    tile::gemm(team, n, F, V, Real(1), values, tile::transposed(dS.data, dS.row), Real(0), dk, F);
    if (in.normalised) {
      team.barrier();
      add_normaliser(team, c, after, x.dA, lda, dq, dk);
    }
    if (channels()) return read_channels(team, c, after, x, q, k, keys, do_, S, dS, dq, dk, dv);
    tile::gemm_to_lower(team, n, F, scale, q, k, x.A, lda);
    team.barrier();
    if (x.G) {
      fill(team, n, F, scale, x.A, x.dA, lda, strength, q, dq, k, dk, x.G, ldg());
      const Real all = reduce(team, F, Real(0), across(c, S, dS, after), [](Real a, Real b) { return a + b; });
      once(team, [&] { x.G[n * ldg()] = all; });
      team.barrier();
      gate_gradient(team, n, in.alpha.data() + step, x.G, ldg(), d.alpha.data() + step);
    }
    x.decays.apply_decay(team, reads, nullptr, strength, x.A, lda);
    x.decays.apply_decay(team, reads, nullptr, nullptr, x.dA, lda);
    if (decay_width()) {
      x.decays.from_start(team, reads, dq, F, dq, F);
      x.decays.to_end(team, dk, F, nullptr, dk, F);
    }
    team.barrier();
    tile::gemm_lower_transposed(team, n, V, Real(1), x.A, lda, do_, Real(0), dv, V);
    tile::gemm_lower_transposed(team, n, F, scale, x.dA, lda, q, Real(1), dk, F);
    team.barrier();
    tile::gemm(team, n, V, F, Real(1), keys, dS, Real(1), dv, V);
    if (strength) {
      Real *const out = d.strength.extent(0) ? d.strength.data() + step : nullptr;
      each_row(team, n, [=](int i, int first, int side) {
        Real *const row = dk + size_t(i) * F;
        const Real sum = row_dot(k.data + i * k.row, row, F, first, side);
        if (out && first == 0) out[i] = sum;
        for (int j = first; j < F; j += side) row[j] *= strength[i];
        for (int t = i + first; t < n; t += side) x.dA[t * lda + i] *= strength[i];
      });
      team.barrier();
    }
    tile::gemm_lower<Real>(team, n, F, scale, x.dA, lda, k, scale, dq, F, reads.staircase());
  }

private:
  /// The part of chunk_output() for one decay per channel. On entry dq and dk contain the terms from S_0 and dS_C,
  /// without decays.
  template <class AnyTeam>
  RECOLLECT_IN_LINE void
  read_channels(const AnyTeam &team, const Chunk &c, const Real *after, const Reading &x, const tile::Matrix<Real> &q,
                const tile::Matrix<Real> &k, const tile::Matrix<Real> &keys, const tile::Matrix<Real> &do_,
                const tile::Matrix<Real> &S, const tile::Matrix<Real> &dS, Real *dq, Real *dk, Real *dv) const {
    const int F = in.width, n = c.n, V = this->V;
    const size_t step = c.head * T + c.first;
    const std::ptrdiff_t ld = tile::pitch<Real>(F), lda = tile::pitch<Real>(C);
    const Reads reads = this->reads(n);
    const auto own = [=](const Array<Real> &array) { return array.extent(0) ? array.data() + step * F : nullptr; };
    x.decays.from_start(team, reads, q.data, q.row, x.within, ld, true);
    const Across across = this->across(c, S, dS, after);
    each(team, F, [=](int j) { x.across[j] = across(j); });
    team.barrier();
    x.decays.weights(team, reads, q.data, q.row, x.within, ld, k.data, k.row, nullptr, nullptr, x.A, lda);
    if (in.bonus.extent(0)) {
      weigh_own_pairs(team, n, F, q, own(in.bonus), k, x.A, lda);
      team.barrier();
    }
    tile::gemm_lower_transposed(team, n, V, in.scale, x.A, lda, do_, Real(0), dv, V);
    team.barrier();
    tile::gemm(team, n, V, F, Real(1), keys, dS, Real(1), dv, V);
    ChannelGradient<Real>{n,
                          F,
                          own(in.lambda),
                          in.q.data() + step * F,
                          in.k.data() + step * F,
                          own(in.bonus),
                          in.scale,
                          x.dA,
                          lda,
                          x.across,
                          dq,
                          dk,
                          own(d.lambda),
                          own(d.bonus)}(team);
  }
  /// The inner product of row j of dS_C and row j of S_0, including z. The caller's loops copy this object: on a GPU,
  /// loops with a reference to the whole algebra would keep it in memory instead of registers.
  struct Across {
    tile::Matrix<Real> S, dS;
    int V;
    const Real *z, *dz; // [F] if normalised
    KOKKOS_FUNCTION Real operator()(int j) const {
      const Real values = dot(S.data + j * S.row, dS.data + j * dS.row, V);
      return z ? values + z[j] * dz[j] : values;
    }
  };
  KOKKOS_FUNCTION Across across(const Chunk &c, const tile::Matrix<Real> &S, const tile::Matrix<Real> &dS,
                                const Real *after) const {
    return {S, dS, V, in.normalised ? starts.of(c) + elements() : nullptr, after + elements()};
  }
  /// Adds the normaliser's terms to do_t . v_i, do_t . S_0 and dS_C . v_i.
  RECOLLECT_IN_LINE void add_normaliser(const Team &team, const Chunk &c, const Real *after, Real *dA,
                                        std::ptrdiff_t lda, Real *dq, Real *dk) const {
    const int F = in.width;
    const Real *z = starts.of(c) + elements(), *dz = after + elements(), *dw = d_weight.data() + c.head * T + c.first;
    each_row(team, c.n, [=](int t, int first, int side) {
      for (int i = first; i <= t; i += side) dA[t * lda + i] += dw[t];
      for (int j = first; j < F; j += side) dq[size_t(t) * F + j] += dw[t] * z[j], dk[size_t(t) * F + j] += dz[j];
    });
  }
  KOKKOS_FUNCTION const Real *decay(size_t step) const {
    return channels() ? in.lambda.data() + step * in.width : in.alpha.extent(0) ? in.alpha.data() + step : nullptr;
  }
  /// Fills G of gate_gradient.hpp, except the element that pairs the write before the chunk with the read after the
  /// chunk. On entry dq and dk contain only the terms from S_0 and dS_C.
  RECOLLECT_IN_LINE static void fill(const Team &team, int n, int F, Real scale, const Real *A, const Real *dA,
                                     std::ptrdiff_t lda, const Real *strength, const tile::Matrix<Real> &q,
                                     const Real *dq, const tile::Matrix<Real> &k, const Real *dk, Real *G,
                                     std::ptrdiff_t ldg) {
    each_row(team, n, [=](int t, int first, int side) {
      for (int i = first; i < t; i += side)
        G[t * ldg + i + 1] = A[t * lda + i] * dA[t * lda + i] * (strength ? strength[i] : Real(1));
      const Real started = row_dot(q.data + t * q.row, dq + size_t(t) * F, F, first, side),
                 left = row_dot(k.data + t * k.row, dk + size_t(t) * F, F, first, side);
      if (first == 0) G[t * ldg] = scale * started, G[n * ldg + t + 1] = (strength ? strength[t] : Real(1)) * left;
    });
  }
};

} // namespace recollect::variants

#ifdef __CUDACC__
namespace recollect::engine { // compiled separately: cmake/instances.cmake
RECOLLECT_SCHEDULES(extern, variants::GatedRecurrenceSaving<float>)
RECOLLECT_SCHEDULES(extern, variants::GatedRecurrenceSaving<double>)
RECOLLECT_SCHEDULES(extern, variants::GatedRecurrenceAdjoint<float>)
RECOLLECT_SCHEDULES(extern, variants::GatedRecurrenceAdjoint<double>)
} // namespace recollect::engine
#endif
