// SPDX-License-Identifier: Apache-2.0
// DeltaNet with momentum on the write (000 Table 2 and Appendix B.2, Eq 75-76).
//
//   C_t = eta_t C_{t-1} + v_t k_t^T,   eta_t = eta alpha_t
//   S_t = S_{t-1} (I - k_t k_t^T) + C_t
//   o_t = S_t q_t
//
// State: 2 Dv x Dk, S above C. Cost a token: recurrent 10 Dv Dk; chunked 12 Dv Dk + C (4 Dk + 7 Dv) flops, as matrix
// products.
#include "harness/device/engine.hpp"
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/columns.hpp"
#include "variants/kernels/recurrent_vjp.hpp"
#include "variants/kernels/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real eta = call.params.real("eta");
  recurrent_rows(
      "delta_momentum::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        Real *c = s + size_t(h.Dv) * h.Dk;
        const Real *k = h.k(t), v = h.v(t)[i], kept = eta * h.alpha[t], old = dot(s, k, h.Dk);
        for (int j = 0; j < h.Dk; ++j) {
          c[j] = kept * c[j] + v * k[j];
          s[j] += c[j] - old * k[j];
        }
        return dot(s, h.q(t), h.Dk);
      });
}

/// What writes amount to within their chunk of steps 0 ... n - 1, with P(i,t) = eta_{i+1} ... eta_t:
/// g(i,t) = sum_{s=i..t} P(i,s) is what C's write at i amounts to in S_t, were nothing erased.
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

/// A chunk that starts in S_0, C_0 has the residuals e_t = -S_{t-1} k_t of
///
///   e_t + sum_{i<t} [k_t . k_i] e_i = -(S_0 k_t + eta_0 g(0,t-1) C_0 k_t + sum_{i<t} [k_t . k_i] g(i,t-1) v_i)
///   o_t = S_0 q_t + eta_0 g(0,t) C_0 q_t + sum_{i<=t} [q_t . k_i] (e_i + g(i,t) v_i)
///   S_{n-1} = S_0 + eta_0 g(0,n-1) C_0 + sum_i (e_i + g(i,n-1) v_i) k_i^T
///   C_{n-1} = eta_0 P(0,n-1) C_0 + sum_i P(i,n-1) v_i k_i^T
///
/// : the algebra of wy.hpp over the state [S; C] with rows of width 2 F. The state is kept transposed.
template <class Number> struct MomentumAlgebra {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = false;
  static constexpr bool fetches = false;
  HeadArrays<Real> arrays;
  Momentum<Real> momentum;

  struct Summary {
    Real *X;     // [n,2F+V] (I + L)^{-1} of both parts of the right hand side; at last e_t in place of the second
    Real *added; // [2F,V]
  };
  struct Phase {
    Real *W, *G, *x; // [C,C] products with the keys; the same times g; [C,2F] or [C,V]
  };

  KOKKOS_FUNCTION size_t state_size() const { return size_t(2) * arrays.Dk * arrays.Dv; }
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
    const int F = arrays.Dk, V = arrays.Dv;
    const size_t half = size_t(F) * V;
    for (size_t part = 0; part < 2; ++part)
      tile::transpose(team, V, F, arrays.head(head).state + part * half, F, state + part * half, V);
  }
  KOKKOS_FUNCTION void store(const Team &team, size_t head, const Real *state) const {
    const int F = arrays.Dk, V = arrays.Dv;
    const size_t half = size_t(F) * V;
    for (size_t part = 0; part < 2; ++part)
      tile::transpose(team, F, V, state + part * half, V, arrays.head(head).state + part * half, F);
  }

  KOKKOS_FUNCTION size_t step(const Chunk &c, int t) const { return c.head * arrays.T + c.first + t; }

  /// W_ti = x_t . k_i for i < t + shift, else 0, and G_ti = W_ti g(i, t + shift - 1).
  KOKKOS_FUNCTION void weigh(const Team &team, const Chunk &c, const Real *x, int shift, const Phase &p) const {
    const int F = arrays.Dk, n = c.n;
    tile::gemm(team, n, n, F, Real(1), tile::rows(x, F), tile::transposed(arrays.head(c.head).k(c.first), F), Real(0),
               p.W, n);
    team.barrier();
    const Real *eta = &momentum.eta(step(c, 0));
    each(team, n, [=](int i) {
      Real product = 1, g = 0;
      for (int t = 0; t < n; ++t) {
        const size_t at = size_t(t) * n + i;
        const int last = t + shift - 1; // of the writes that count
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

  RECOLLECT_IN_LINE void summarise(const Team &team, const Chunk &c, const Summary &out, const Phase &p) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, ld = ldx();
    const Real *k = h.k(c.first), *v = h.v(c.first);
    const Real *const at_end[2] = {momentum.to_end.data(), momentum.left.data()};
    weigh(team, c, k, 0, p);
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
                 out.added + part * (state_size() / 2), V);
    }
  }

  RECOLLECT_IN_LINE void carry(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                               const Real *before, Real *after, const Phase &) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, ld = ldx(), begin = part.begin(V, 16), columns = part.end(V, 16) - begin;
    const Real from_momentum = momentum.from_start(step(c, n - 1)),
               kept = momentum.eta(step(c, 0)) * momentum.left(step(c, 0));
    Real *E = chunk.X + 2 * F + begin;
    tile::gemm(team, n, columns, 2 * F, Real(-1), tile::rows<Real>(chunk.X, ld), tile::rows(before + begin, V), Real(1),
               E, ld);
    each_cell(team, F, columns, [=, *this](int j, int i) {
      const size_t s = size_t(j) * V + begin + i, z = s + state_size() / 2;
      after[s] = before[s] + from_momentum * before[z] + chunk.added[s];
      after[z] = kept * before[z] + chunk.added[z];
    });
    team.barrier();
    tile::gemm(team, F, columns, n, Real(1), tile::transposed(h.k(c.first), F), tile::rows<Real>(E, ld), Real(1),
               after + begin, V);
  }

  RECOLLECT_IN_LINE void read(const Team &team, const Chunk &c, const Summary &chunk, const Real *before,
                              const Phase &p) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv;
    weigh(team, c, h.q(c.first), 1, p);
    stack(team, c, h.q(c.first), 1, p.x, 2 * F);
    team.barrier();
    tile::gemm(team, n, V, Real(1), tile::Product<Real>{tile::rows<Real>(p.x, 2 * F), tile::rows(before, V), 2 * F},
               tile::Product<Real>{tile::rows<Real>(p.W, n), tile::rows<Real>(chunk.X + 2 * F, ldx()), n, {1, 1}},
               Real(0), h.o(c.first), V);
    team.barrier();
    const tile::Product<Real> written{tile::rows<Real>(p.G, n), tile::rows(h.v(c.first), V), n, {1, 1}};
    tile::gemm(team, n, V, Real(1), written, {}, Real(1), h.o(c.first), V);
  }
};

template <class Real> void chunked(const Call<Real> &call) {
  run_chunks("delta_momentum::chunked", call, MomentumAlgebra<Real>{HeadArrays<Real>(call), momentum(call)});
}

/// With y = S_{t-1} k_t and g = dS_t k_t, after dS_t += do_t q_t^T and then dC_t += dS_t:
///
///   dq_t = S_t^T do_t,   dv_t = dC_t k_t,   dk_t = dC_t^T v_t - S_{t-1}^T g - dS_t^T y,   d eta_t = <dC_t, C_{t-1}>
///   dS_{t-1} = dS_t - g k_t^T,   dC_{t-1} = eta_t dC_t
template <class Real> struct StepBack {
  int Dk, Dv;
  Real eta;
  size_t scratch() const { return 3 * size_t(Dv); }

  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *) const {
    const Real *k = h.k(t), *v = h.v(t), kept = eta * h.alpha[t];
    const int F = Dk;
    const size_t half = size_t(F) * Dv;
    each(team, Dv, [=](int i) {
      const Real *s = before + size_t(i) * F, *c = s + half, old = dot(s, k, F);
      Real *S = after + size_t(i) * F, *C = S + half;
      for (int j = 0; j < F; ++j) {
        C[j] = kept * c[j] + v[i] * k[j];
        S[j] = s[j] + (C[j] - old * k[j]);
      }
    });
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dS, const StepGradient<Real> &d, Real *y) const {
    const Real *q = h.q(t), *k = h.k(t), *v = h.v(t), kept = eta * h.alpha[t], factor = eta;
    const int F = Dk, V = Dv;
    const size_t half = size_t(F) * V;
    Real *g = y + V, *d_eta = g + V;
    each(team, V, [=](int i) {
      Real *s = dS + size_t(i) * F, *c = s + half;
      const Real *old = before + size_t(i) * F;
      for (int j = 0; j < F; ++j) {
        s[j] += d.o[i] * q[j];
        c[j] += s[j];
      }
      y[i] = dot(old, k, F), g[i] = dot(s, k, F), d.v[i] = dot(c, k, F), d_eta[i] = dot(c, old + half, F);
    });
    each(team, F, [=](int j) { d.q[j] = d.k[j] = 0; });
    team.barrier();
    down_columns(team, V, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      d.q[j] += d.o[i] * after[cell];
      d.k[j] += v[i] * dS[half + cell] - g[i] * before[cell] - y[i] * dS[cell];
    });
    once(team, [=] {
      Real sum = 0;
      for (int i = 0; i < V; ++i) sum += d_eta[i];
      *d.alpha = factor * sum;
    });
    team.barrier();
    each_cell(team, V, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      dS[cell] -= g[i] * k[j];
      dS[half + cell] *= kept;
    });
  }
};
template <class Real> void backward(const Pullback<Real> &back) {
  const Call<Real> &call = back.call;
  recurrent_vjp("delta_momentum::backward", back,
                StepBack<Real>{call.shape.Dk, call.shape.Dv, Real(call.params.real("eta"))});
}

} // namespace

Variant delta_momentum() {
  Variant v;
  v.family = "delta rule";
  v.update = "A_t = I - k_t k_t^T, b_t k_t^T -> C_t = eta_t C_{t-1} + v_t k_t^T, eta_t = eta alpha_t, phi = identity";
  v.objective = "|S k_t|^2 / 2 - sum_i eta_{i+1} ... eta_t <S k_i, v_i>, one gradient step of size 1";
  v.source = "000 Table 2, Eq 75-76";
  v.cost = 10 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("eta", 0.9, 0, 1, "momentum: how much of the last write is written again"), {0, 0.5})};
  v.inputs = {{"alpha", false, "factor on eta at every step"}};
  v.layout = "S [Dv,Dk], C [Dv,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{2 * s.Dv, s.Dk}; };
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms.back().vjp = {backward<float>, backward<double>};
  return v;
}

} // namespace recollect::variants
