// SPDX-License-Identifier: Apache-2.0
// Gradients of momentum.hpp's layer, chunk by chunk; g(i,t) and P(i,t) are the weights defined there. S_t and C_t are
// the states after step t = 0 ... n - 1 of the chunk, A_t and B_t their gradients, and the vector g_t is A_t k_t. A and
// B without an index are the parts of the gradients of S_{n-1} and C_{n-1} that come from later chunks:
//
//   A_t = A + sum_{s>=t} do_s q_s^T - sum_{s>t} g_s k_s^T,   B_t = sum_{s>=t} P(t,s) A_s + P(t,n-1) B
//   g_t + sum_{s>t} [k_s . k_t] g_s = A k_t + sum_{s>=t} [q_s . k_t] do_s
//   gradients of the states before the chunk: A_0 - g_0 k_0^T and eta_0 B_0
//
// Let the weights' gradients be M(t,i) = do_t . (e_i + g(i,t) v_i) for i <= t and N(t,i) = g_t . (e_i + g(i,t-1) v_i)
// for i < t. In the next line, S_0 and C_0 are the states before the chunk:
//
//   dq_t = S_t^T do_t = (S_0 + eta_0 g(0,t) C_0)^T do_t + sum_i M(t,i) k_i
//   dv_t = B_t k_t
//   dk_t = A^T e_t + (g(t,n-1) A + P(t,n-1) B)^T v_t + sum_s (M(s,t) q_s - N(s,t) k_s) - S_{t-1}^T g_t
//   d eta_t = <B_t, C_{t-1}>
#pragma once
#include "harness/device/tile/called.hpp"
#include "variants/kernels/chunked/gate_gradient.hpp"
#include "variants/kernels/chunked/momentum.hpp"
#include "variants/kernels/common/columns.hpp"

namespace recollect::variants {

/// Arrays that the forward pass saves.
template <class Real> struct KeptMomentum {
  ChunkStates<Real> starts;
  Array<Real> errors; // [B,H,T,V] residuals e_t
};

template <class Number> struct MomentumSaving : MomentumAlgebra<Number> {
  using Base = MomentumAlgebra<Number>;
  using typename Base::Summary;
  struct Reading {};
  KeptMomentum<Number> kept;

  KOKKOS_FUNCTION Reading reading(Stack<Number> &) const { return {}; }
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &chunk, const Number *before,
                                      const Reading &) const {
    const int V = this->arrays.Dv;
    kept.starts.keep(team, c, before);
    tile::copy<Number>(team, c.n, V, chunk.X + 2 * this->arrays.Dk, this->ldx(),
                       kept.errors.data() + this->step(c, 0) * V, V);
  }
  static constexpr bool keeps_start = true;
  const ChunkStates<Number> &saved_states() const { return kept.starts; }
  bool reads_nothing() const { return false; }
};

/// The adjoint. Its state is [A; B], stored transposed.
template <class Number> struct MomentumAdjoint {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = false;
  static constexpr bool fetches = false;
  MomentumAlgebra<Real> forward;
  KeptMomentum<Real> kept;
  Array<Real> d_o, d_q, d_k, d_v, d_alpha, d_state;
  Real factor; // d eta_t / d alpha_t

  struct Summary {
    Real *g;       // [C,V] row t: sum_s [q_s . k_t] do_s; after state passing g_t
    Real *added;   // [2F,V] what the chunk's outputs add to the gradients of A and B
    Real *flipped; // [C,C] k_s . k_t, reordered by tile::flip
  };
  using Summarising = typename MomentumAlgebra<Real>::Phase;
  struct Carrying {
    Real *x; // [C,V] eta_0 g(0,t-1) g_t
  };
  struct Reading {
    Real *growth; // [C,C] g(i,t); 0 where i > t
    // qk    [C,C] q_t . k_i, then times g(i,t)
    // kk    [C,C] k_t . k_i, then times g(i,t-1)
    // do_v  [C,C] do_t . v_i
    // g_v   [C,C] g_t . v_i
    // M     [C,C] do_t . e_i, then M(t,i)
    // N     [C,C] g_t . e_i, then N(t,i)
    Real *qk, *kk, *do_v, *g_v, *M, *N;
    Real *G; // [C+1,C+1] as in gate_gradient.hpp
    // do_C  [C,F] C_0^T do_t
    // g_C   [C,F] C_0^T g_t
    Real *do_C, *g_C;
    // A_k  [C,V] A k_t
    // B_k  [C,V] B k_t
    Real *A_k, *B_k;
    // to_A  [C,V] e_t + g(t,n-1) v_t
    // to_B  [C,V] P(t,n-1) v_t
    Real *to_A, *to_B;
  };

  KOKKOS_FUNCTION size_t state_size() const { return forward.state_size(); }
  int parts() const { return forward.parts(); }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const {
    const size_t C = forward.arrays.chunk;
    return {s.take(C * forward.arrays.Dv), s.take(state_size()), s.take(C * C)};
  }
  KOKKOS_FUNCTION Summarising summarising(Stack<Real> &s) const { return forward.reading(s); }
  KOKKOS_FUNCTION Carrying carrying(Stack<Real> &s) const {
    return {s.take(size_t(forward.arrays.chunk) * forward.arrays.Dv)};
  }
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    const size_t C = forward.arrays.chunk, F = forward.arrays.Dk, V = forward.arrays.Dv;
    Reading x;
    x.growth = s.take(C * C);
    x.qk = s.take(C * C), x.kk = s.take(C * C), x.do_v = s.take(C * C), x.g_v = s.take(C * C);
    x.M = s.take(C * C), x.N = s.take(C * C);
    x.G = s.take((C + 1) * (C + 1));
    x.do_C = s.take(C * F), x.g_C = s.take(C * F);
    x.A_k = s.take(C * V), x.B_k = s.take(C * V);
    x.to_A = s.take(C * V), x.to_B = s.take(C * V);
    return x;
  }

  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *state) const {
    forward.load(team, d_state.data() + head * state_size(), state);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *state) const {
    forward.store(team, state, d_state.data() + head * state_size());
  }

  RECOLLECT_IN_LINE void chunk_local(const Team &team, const Chunk &c, const Summary &out, const Summarising &p) const {
    const Head<Real> h = forward.arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv;
    const auto given = tile::rows<Real>(d_o.data() + forward.step(c, 0) * V, V);
    forward.apply_decay(team, c, h.q(c.first), 1, p);
    forward.stack(team, c, h.q(c.first), 1, p.x, 2 * F);
    tile::gemm_lower_transposed(team, n, V, Real(1), p.W, n, given, Real(0), out.g, V);
    team.barrier();
    tile::gemm(team, 2 * F, V, n, Real(1), tile::transposed<Real>(p.x, 2 * F), given, Real(0), out.added, V);
    forward.apply_decay(team, c, h.k(c.first), 0, p);
    tile::flip(team, n, p.W, n, out.flipped, n);
  }

  RECOLLECT_IN_LINE void state_passing(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Carrying &p) const {
    const Head<Real> h = forward.arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, begin = part.begin(V, 16), columns = part.end(V, 16) - begin;
    const size_t half = forward.half();
    const Real *from_start = forward.momentum.from_start.data() + forward.step(c, 0);
    const Real kept = forward.momentum.eta(forward.step(c, 0)) * forward.momentum.left(forward.step(c, 0));
    const auto keys = tile::transposed(h.k(c.first), F);
    Real *const g = chunk.g + begin, *const x = p.x;
    tile::gemm(team, n, columns, F, Real(1), tile::rows(h.k(c.first), F), tile::rows(before + begin, V), Real(1), g, V);
    team.barrier();
    tile::solve_flipped(team, n, columns, chunk.flipped, n, g, V);
    each_cell(team, F, columns, [=](int j, int i) {
      const size_t s = size_t(j) * V + begin + i, z = s + half;
      after[s] = before[s] + chunk.added[s];
      after[z] = from_start[n - 1] * before[s] + kept * before[z] + chunk.added[z];
    });
    each_cell(team, n, columns, [=](int t, int i) {
      const size_t at = size_t(t) * V + i;
      x[at] = t > 0 ? from_start[t - 1] * g[at] : Real(0);
    });
    team.barrier();
    tile::gemm(team, F, columns, n, Real(-1), keys, tile::rows<Real>(g, V), Real(1), after + begin, V);
    tile::gemm(team, F, columns, n, Real(-1), keys, tile::rows<Real>(x, V), Real(1), after + half + begin, V);
  }

  /// `after` is [A; B], the gradient of the state at the chunk's end.
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &chunk, const Real *after,
                                      const Reading &x) const {
    const Head<Real> h = forward.arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv;
    const size_t step = forward.step(c, 0), half = forward.half();
    const Real *const q = h.q(c.first), *const k = h.k(c.first), *const v = h.v(c.first), *const g = chunk.g,
                      *const e = kept.errors.data() + step * V, *const S = kept.starts.of(c), *const C = S + half,
                      *const given = d_o.data() + step * V;
    const Real *const from_start = forward.momentum.from_start.data() + step,
                      *const to_end = forward.momentum.to_end.data() + step,
                      *const left = forward.momentum.left.data() + step;
    Real *const dq = d_q.data() + step * F, *const dk = d_k.data() + step * F, *const dv = d_v.data() + step * V;
    grow(team, n, forward.momentum.eta.data() + step, x.growth);
    tile::called::gemm_to_lower(team, n, F, Real(1), tile::rows(q, F), tile::rows(k, F), x.qk, n);
    tile::called::gemm_to_lower(team, n, F, Real(1), tile::rows(k, F), tile::rows(k, F), x.kk, n);
    tile::called::gemm_to_lower(team, n, V, Real(1), tile::rows(given, V), tile::rows(v, V), x.do_v, n);
    tile::called::gemm_to_lower(team, n, V, Real(1), tile::rows(g, V), tile::rows(v, V), x.g_v, n);
    tile::called::gemm_to_lower(team, n, V, Real(1), tile::rows(given, V), tile::rows(e, V), x.M, n);
    tile::called::gemm_to_lower(team, n, V, Real(1), tile::rows(g, V), tile::rows(e, V), x.N, n);
    by_state(team, n, Real(1), given, S, dq);
    by_state(team, n, Real(1), given, C, x.do_C);
    by_state(team, n, Real(-1), g, S, dk);
    by_state(team, n, Real(1), g, C, x.g_C);
    tile::called::gemm(team, n, V, F, Real(1), tile::rows(k, F), tile::rows(after, V), Real(0), x.A_k, V);
    tile::called::gemm(team, n, V, F, Real(1), tile::rows(k, F), tile::rows(after + half, V), Real(0), x.B_k, V);
    each_cell(team, n, V, [=](int t, int i) {
      const size_t at = size_t(t) * V + i;
      x.to_A[at] = e[at] + to_end[t] * v[at], x.to_B[at] = left[t] * v[at];
    });
    team.barrier();
    of_gates(team, c, after, C, x);
    each_row(team, n, [=](int t, int first, int side) {
      const size_t row = size_t(t) * n;
      for (int i = first; i < n; i += side) {
        const Real at = x.growth[row + i], early = t > 0 ? x.growth[row - n + i] : Real(0);
        x.M[row + i] = i <= t ? x.M[row + i] + at * x.do_v[row + i] : Real(0);
        x.N[row + i] = i < t ? x.N[row + i] + early * x.g_v[row + i] : Real(0);
        x.qk[row + i] = i <= t ? at * x.qk[row + i] : Real(0);
        x.kk[row + i] = i < t ? early * x.kk[row + i] : Real(0);
      }
      const Real reads = from_start[t], erases = t > 0 ? from_start[t - 1] : Real(0);
      for (size_t j = size_t(t) * F + first; j < size_t(t + 1) * F; j += side)
        dq[j] += reads * x.do_C[j], dk[j] -= erases * x.g_C[j];
      for (size_t i = size_t(t) * V + first; i < size_t(t + 1) * V; i += side)
        dv[i] = to_end[t] * x.A_k[i] + left[t] * x.B_k[i];
    });
    team.barrier();
    tile::called::gemm_lower<Real>(team, n, F, Real(1), x.M, n, tile::rows(k, F), Real(1), dq, F);
    tile::called::gemm_lower<Real>(team, n, F, Real(-1), x.N, n, tile::rows(k, F), Real(1), dk, F);
    tile::called::gemm_lower_transposed(team, n, V, Real(1), x.qk, n, tile::rows(given, V), Real(1), dv, V);
    team.barrier();
    tile::called::gemm_lower_transposed(team, n, V, Real(-1), x.kk, n, tile::rows(g, V), Real(1), dv, V);
    tile::called::gemm_lower_transposed(team, n, F, Real(1), x.M, n, tile::rows(q, F), Real(1), dk, F);
    team.barrier();
    tile::called::gemm_lower_transposed(team, n, F, Real(-1), x.N, n, tile::rows(k, F), Real(1), dk, F);
    team.barrier();
    tile::called::gemm(team, n, F, V, Real(1), tile::rows<Real>(x.to_A, V), tile::transposed(after, V), Real(1), dk, F);
    team.barrier();
    tile::called::gemm(team, n, F, V, Real(1), tile::rows<Real>(x.to_B, V), tile::transposed(after + half, V), Real(1),
                       dk, F);
  }

private:
  /// Computes g(i,t) for all i and t; 0 where i > t.
  KOKKOS_FUNCTION static void grow(const Team &team, int n, const Real *eta, Real *growth) {
    constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // columns per thread at a time
    each(team, (n - 1) / lanes + 1, [=](int bundle) {
      const int begin = bundle * lanes, count = n - begin < lanes ? n - begin : lanes;
      Real product[lanes] = {}, sum[lanes] = {};
      for (int t = 0; t < n; ++t)
        for (int l = 0; l < count; ++l) {
          product[l] = t == begin + l ? Real(1) : eta[t] * product[l];
          growth[size_t(t) * n + begin + l] = sum[l] += product[l];
        }
    });
  }
  /// out = by x S for a state S, which is stored transposed.
  RECOLLECT_IN_LINE void by_state(const Team &team, int n, Real by, const Real *x, const Real *state, Real *out) const {
    const int F = forward.arrays.Dk, V = forward.arrays.Dv;
    tile::called::gemm(team, n, F, V, by, tile::rows(x, V), tile::transposed(state, V), Real(0), out, F);
  }
  /// Computes d alpha by gate_gradient(). After step t, the write at step i is read with the weight g(i,t) =
  /// sum_{s=i..t} P(i,s): step s adds to S the part P(i,s) of the write that the momentum still holds. Hence row s of G
  /// is the sum over all reads after steps t >= s.
  RECOLLECT_IN_LINE void of_gates(const Team &team, const Chunk &c, const Real *after, const Real *C,
                                  const Reading &x) const {
    const Head<Real> h = forward.arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, ldg = n + 1;
    const size_t step = forward.step(c, 0), half = forward.half();
    const Real *const q = h.q(c.first), *const k = h.k(c.first), *const v = h.v(c.first);
    Real *const G = x.G, *const d = d_alpha.data() + step, factor = this->factor;
    each_row(team, n, [=](int t, int first, int side) {
      const bool erases = t + 1 < n; // e_{t+1} reads the state after step t
      for (int i = first; i < t; i += side) {
        const size_t own = size_t(t) * n + i, next = own + n;
        G[t * ldg + i + 1] = x.qk[own] * x.do_v[own] - (erases ? x.kk[next] * x.g_v[next] : Real(0));
      }
      Real started = row_dot(q + size_t(t) * F, x.do_C + size_t(t) * F, F, first, side);
      if (erases) started -= row_dot(k + size_t(t + 1) * F, x.g_C + size_t(t + 1) * F, F, first, side);
      const Real kept = row_dot(v + size_t(t) * V, x.B_k + size_t(t) * V, V, first, side);
      if (first == 0) G[t * ldg] = started, G[n * ldg + t + 1] = kept;
    });
    const auto across = [=](const Real *gradient) {
      return reduce(
          team, F, Real(0), [=](int j) { return dot(gradient + size_t(j) * V, C + size_t(j) * V, V); },
          [](Real a, Real b) { return a + b; });
    };
    const Real ended = across(after), kept = across(after + half);
    team.barrier();
    each(team, n, [=](int i) { // A counts as a read after the last step
      const Real read = i == 0 ? ended : dot(v + size_t(i - 1) * V, x.A_k + size_t(i - 1) * V, V);
      G[(n - 1) * ldg + i] += read;
    });
    once(team, [=] { G[n * ldg] = kept; });
    team.barrier();
    down_columns(team, n - 1, n, [=](int r, int i) { G[(n - 2 - r) * ldg + i] += G[(n - 1 - r) * ldg + i]; });
    team.barrier();
    gate_gradient(team, n, forward.momentum.eta.data() + step, G, ldg, d);
    each(team, n, [=](int t) { d[t] *= factor; });
  }
};

template <class Real> void momentum_vjp(const std::string &label, const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call, &d = back.d;
  const MomentumAlgebra<Real> forward{HeadArrays<Real>(call), momentum(call)};
  const KeptMomentum<Real> kept{ChunkStates<Real>(call, forward), allocate(call, call.steps() * call.shape.Dv)};
  run_chunks(label + "::chunk_states", call, MomentumSaving<Real>{forward, kept});
  run_chunks(label, call,
             MomentumAdjoint<Real>{forward, kept, d.o, d.q, d.k, d.v, d.alpha, d.state, Real(call.params.real("eta"))},
             true);
}

} // namespace recollect::variants
