// SPDX-License-Identifier: Apache-2.0
// A delta rule with momentum (variants/delta_momentum.cpp), chunk by chunk.
#pragma once
#include "harness/device/engine.hpp"
#include "harness/device/tile/transposed.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// Weights of writes within a chunk of steps 0 ... n - 1. The layer adds C_t = eta_t C_{t-1} + v_t k_t^T to S at every
/// step. Let P(i,t) = eta_{i+1} ... eta_t. Without erasure, the write to the momentum C at step i has the weight g(i,t)
/// = sum_{s=i..t} P(i,s) in S_t.
template <class Real> struct Momentum {
  Array<Real> eta, from_start, to_end, left; // [B,H,T] eta_t, eta_0 g(0,t), g(t,n-1), P(t,n-1)
};

template <class Real> Momentum<Real> momentum(const Call<Real> &call) {
  const auto make = [&] { return allocate(call, call.steps()); };
  const Momentum<Real> m{make(), make(), make(), make()};
  const Real factor = call.params.real("eta");
  const int chunks = (call.shape.T - 1) / call.chunk + 1;
  each_head(
      "delta_momentum::momentum", call, 0, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        each(team, chunks, [=](int c) {
          const int first = c * h.chunk, n = h.T - first < h.chunk ? h.T - first : h.chunk;
          const size_t at = h.index * h.T + first;
          Real sum = 0, product = 1;
          for (int t = 0; t < n; ++t) {
            product *= m.eta(at + t) = factor * h.alpha[first + t];
            m.from_start(at + t) = sum += product;
          }
          sum = product = 1;
          for (int t = n - 1; t >= 0; --t) {
            m.to_end(at + t) = sum, m.left(at + t) = product;
            sum = 1 + m.eta(at + t) * sum, product *= m.eta(at + t);
          }
        });
      });
  return m;
}

/// In a chunk that starts in S_0 and C_0 (here the states before step 0), the residuals e_t = -S_{t-1} k_t satisfy
///
///   e_t + sum_{i<t} [k_t . k_i] e_i = -(S_0 k_t + eta_0 g(0,t-1) C_0 k_t + sum_{i<t} [k_t . k_i] g(i,t-1) v_i)
///   o_t = S_0 q_t + eta_0 g(0,t) C_0 q_t + sum_{i<=t} [q_t . k_i] (e_i + g(i,t) v_i)
///   S_{n-1} = S_0 + eta_0 g(0,n-1) C_0 + sum_i (e_i + g(i,n-1) v_i) k_i^T
///   C_{n-1} = eta_0 P(0,n-1) C_0 + sum_i P(i,n-1) v_i k_i^T
///
/// This is the algebra of delta_rule.hpp over the state [S; C], whose rows have width 2 F, with L_ti = k_t . k_i for i
/// < t. The state is stored transposed.
template <class Number> struct MomentumAlgebra {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = false;
  static constexpr bool fetches = false;
  HeadArrays<Real> arrays;
  Momentum<Real> momentum;

  struct Summary {
    Real *X;     // [n,2F+V] (I + L)^{-1} times both parts of the right-hand side; finally e_t in the last V columns
    Real *added; // [2F,V] what the chunk's values add to S and C at its end, transposed
  };
  struct Phase {
    // W  [C,C] inner products of queries or keys with keys
    // G  [C,C] W times the weights g
    // x  [C,V] weighted values, or [C,2F] the rows of stack()
    Real *W, *G, *x;
  };

  KOKKOS_FUNCTION size_t half() const { return size_t(arrays.Dk) * arrays.Dv; }
  KOKKOS_FUNCTION size_t state_size() const { return 2 * half(); }
  int parts() const { return (arrays.Dv - 1) / 16 + 1; }
  KOKKOS_FUNCTION int ldx() const { return 2 * arrays.Dk + arrays.Dv; }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const {
    return {s.take(size_t(arrays.chunk) * ldx()), s.take(state_size())};
  }
  KOKKOS_FUNCTION Phase summarising(Stack<Real> &s) const {
    const size_t C = arrays.chunk;
    return {s.take(C * C), s.take(C * C), s.take(C * arrays.Dv)};
  }
  KOKKOS_FUNCTION Phase carrying(Stack<Real> &) const { return {}; }
  KOKKOS_FUNCTION Phase reading(Stack<Real> &s) const {
    const size_t C = arrays.chunk;
    return {s.take(C * C), s.take(C * C), s.take(C * 2 * arrays.Dk)};
  }

  KOKKOS_FUNCTION void load(const Team &team, size_t head, Real *state) const {
    load(team, arrays.head(head).state, state);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *state) const {
    store(team, state, arrays.head(head).state);
  }
  KOKKOS_FUNCTION void load(const Team &team, const Real *from, Real *state) const {
    const int F = arrays.Dk, V = arrays.Dv;
    for (size_t part = 0; part < state_size(); part += half())
      tile::transpose(team, V, F, from + part, F, state + part, V);
  }
  KOKKOS_FUNCTION void store(const Team &team, const Real *state, Real *to) const {
    const int F = arrays.Dk, V = arrays.Dv;
    for (size_t part = 0; part < state_size(); part += half())
      tile::transpose(team, F, V, state + part, V, to + part, F);
  }

  KOKKOS_FUNCTION size_t step(const Chunk &c, int t) const { return c.head * arrays.T + c.first + t; }

  /// W_ti = x_t . k_i for i < t + shift, else 0, and G_ti = W_ti g(i, t + shift - 1).
  KOKKOS_FUNCTION void apply_decay(const Team &team, const Chunk &c, const Real *x, int shift, const Phase &p) const {
    const int F = arrays.Dk, n = c.n;
    tile::gemm(team, n, n, F, Real(1), tile::rows(x, F), tile::transposed(arrays.head(c.head).k(c.first), F), Real(0),
               p.W, n);
    team.barrier();
    const Real *eta = &momentum.eta(step(c, 0));
    each(team, n, [=](int i) {
      Real product = 1, g = 0;
      for (int t = 0; t < n; ++t) {
        const size_t at = size_t(t) * n + i;
        const int last = t + shift - 1; // the last write that row t reads
        if (last > i) product *= eta[last];
        if (last >= i) g += product;
        p.G[at] = last < i ? Real(0) : p.W[at] * g;
        if (last < i) p.W[at] = 0;
      }
    });
    team.barrier();
  }
  /// out_t = [x_t, eta_0 g(0, t + shift - 1) x_t]
  KOKKOS_FUNCTION void stack(const Team &team, const Chunk &c, const Real *x, int shift, Real *out, int ld) const {
    const int F = arrays.Dk;
    const Real *from_start = momentum.from_start.data() + step(c, 0);
    each_cell(team, c.n, F, [=](int t, int j) {
      const int last = t + shift - 1;
      out[size_t(t) * ld + j] = x[size_t(t) * F + j];
      out[size_t(t) * ld + F + j] = last < 0 ? Real(0) : from_start[last] * x[size_t(t) * F + j];
    });
  }

  RECOLLECT_IN_LINE void chunk_local(const Team &team, const Chunk &c, const Summary &out, const Phase &p) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, ld = ldx();
    const Real *k = h.k(c.first), *v = h.v(c.first);
    const Real *const at_end[2] = {momentum.to_end.data(), momentum.left.data()};
    apply_decay(team, c, k, 0, p);
    stack(team, c, k, 0, out.X, ld);
    const tile::Product<Real> written{tile::rows<Real>(p.G, n), tile::rows(v, V), n, {0, 1}};
    tile::gemm(team, n, V, Real(-1), written, {}, Real(0), out.X + 2 * F, ld);
    team.barrier();
    tile::solve_unit_lower(team, n, ld, p.W, n, out.X, ld);
    for (int part = 0; part < 2; ++part) {
      team.barrier();
      const Real *weight = at_end[part] + step(c, 0);
      each_cell(team, n, V, [=](int t, int i) { p.x[size_t(t) * V + i] = weight[t] * v[size_t(t) * V + i]; });
      team.barrier();
      tile::gemm(team, F, V, n, Real(1), tile::transposed(k, F), tile::rows<Real>(p.x, V), Real(0),
                 out.added + part * half(), V);
    }
  }

  RECOLLECT_IN_LINE void state_passing(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Phase &) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, ld = ldx(), begin = part.begin(V, 16), columns = part.end(V, 16) - begin;
    const Real from_momentum = momentum.from_start(step(c, n - 1)),
               kept = momentum.eta(step(c, 0)) * momentum.left(step(c, 0));
    Real *E = chunk.X + 2 * F + begin;
    tile::gemm(team, n, columns, 2 * F, Real(-1), tile::rows<Real>(chunk.X, ld), tile::rows(before + begin, V), Real(1),
               E, ld);
    each_cell(team, F, columns, [=, *this](int j, int i) {
      const size_t s = size_t(j) * V + begin + i, z = s + half();
      after[s] = before[s] + from_momentum * before[z] + chunk.added[s];
      after[z] = kept * before[z] + chunk.added[z];
    });
    team.barrier();
    tile::gemm(team, F, columns, n, Real(1), tile::transposed(h.k(c.first), F), tile::rows<Real>(E, ld), Real(1),
               after + begin, V);
  }

  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &chunk, const Real *before,
                                      const Phase &p) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv;
    apply_decay(team, c, h.q(c.first), 1, p);
    stack(team, c, h.q(c.first), 1, p.x, 2 * F);
    team.barrier();
    tile::gemm(team, n, V, Real(1), tile::Product<Real>{tile::rows<Real>(p.x, 2 * F), tile::rows(before, V), 2 * F},
               tile::Product<Real>{tile::rows<Real>(p.W, n), tile::rows<Real>(chunk.X + 2 * F, ldx()), n, {1, 1}},
               Real(0), h.o(c.first), V);
    team.barrier();
    tile::gemm_lower<Real>(team, n, V, Real(1), p.G, n, tile::rows(h.v(c.first), V), Real(1), h.o(c.first), V);
  }
};

} // namespace recollect::variants
