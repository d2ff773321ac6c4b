// SPDX-License-Identifier: Apache-2.0
// DeltaNet with momentum on the write (000 Table 2 and Appendix B.2, Eq 75-76).
//
//   C_t = eta C_{t-1} + v_t k_t^T
//   S_t = S_{t-1} (I - k_t k_t^T) + C_t
//   o_t = S_t q_t
//
// State: 2 Dv x Dk, S above C. Cost a token: recurrent 10 Dv Dk; chunked 12 Dv Dk + C (4 Dk + 7 Dv) flops, as matrix
// products.
#include "harness/device/engine.hpp"
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real eta = call.params.real("eta");
  recurrent_rows(
      "delta_momentum::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        Real *c = s + size_t(h.Dv) * h.Dk;
        const Real *k = h.k(t), v = h.v(t)[i], old = dot(s, k, h.Dk);
        for (int j = 0; j < h.Dk; ++j) {
          c[j] = eta * c[j] + v * k[j];
          s[j] += c[j] - old * k[j];
        }
        return dot(s, h.q(t), h.Dk);
      });
}

/// With g(m) = 1 + eta + ... + eta^(m-1), a chunk that starts in (S_0, C_0) reads, for any x,
///
///   S_t x = S_0 x + eta g(t) C_0 x + sum_{i<=t} [x . k_i] (e_i + g(t-i+1) v_i),   e_i = -S_{i-1} k_i,
///
/// so that the e_i solve a unit lower triangular system. Nothing is divided by 1 - eta.
/// With g(m) = 1 + eta + ... + eta^(m-1), a chunk that starts in S_0, C_0 has the residuals e_t of
///
///   e_t + sum_{i<t} [k_t . k_i] e_i = -(S_0 k_t + eta g(t) C_0 k_t + sum_{i<t} [k_t . k_i] g(t-i) v_i)
///   o_t = S_0 q_t + eta g(t+1) C_0 q_t + sum_{i<=t} [q_t . k_i] (e_i + g(t+1-i) v_i)
///   S_n = S_0 + eta g(n) C_0 + sum_i (e_i + g(n-i) v_i) k_i^T,   C_n = eta^n C_0 + sum_i eta^(n-1-i) v_i k_i^T
///
/// for t = 0 ... n - 1: the algebra of wy.hpp over the state [S; C] with rows of width 2 F. The state is kept transposed.
template <class Number> struct MomentumAlgebra {
  using Real = Number;
  static constexpr bool carries_by_reading = false;
  static constexpr bool elementwise = false;
  Real eta;
  HeadArrays<Real> arrays;
  Array<Real> g, power; // [C+1] g(m), eta^m

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

  /// W_ti = x_t . k_i for i < t + shift, else 0, and G_ti = W_ti g(t + shift - i).
  KOKKOS_FUNCTION void weigh(const Team &team, int n, const Real *x, const Real *k, int shift, const Phase &p) const {
    const int F = arrays.Dk;
    const Real *g = this->g.data();
    tile::gemm(team, n, n, F, Real(1), tile::rows(x, F), tile::transposed(k, F), Real(0), p.W, n);
    team.barrier();
    each_cell(team, n, n, [=](int t, int i) {
      const size_t at = size_t(t) * n + i;
      p.G[at] = i < t + shift ? p.W[at] * g[t + shift - i] : Real(0);
      if (i >= t + shift) p.W[at] = 0;
    });
    team.barrier();
  }
  /// out_t = [x_t, eta g(t + shift) x_t]
  KOKKOS_FUNCTION void stack(const Team &team, int n, const Real *x, int shift, Real *out, int ld) const {
    const int F = arrays.Dk;
    const Real *g = this->g.data(), eta = this->eta;
    each_cell(team, n, F, [=](int t, int j) {
      out[size_t(t) * ld + j] = x[size_t(t) * F + j];
      out[size_t(t) * ld + F + j] = eta * g[t + shift] * x[size_t(t) * F + j];
    });
  }

  KOKKOS_FUNCTION void summarise(const Team &team, const Chunk &c, const Summary &out, const Phase &p) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, ld = ldx();
    const Real *k = h.k(c.first), *v = h.v(c.first), *g = this->g.data(), *power = this->power.data();
    weigh(team, n, k, k, 0, p);
    stack(team, n, k, 0, out.X, ld);
    const tile::Product<Real> written{tile::rows<Real>(p.G, n), tile::rows(v, V), n, {0, 1}};
    tile::gemm(team, n, V, Real(-1), written, {}, Real(0), out.X + 2 * F, ld);
    team.barrier();
    tile::solve_unit_lower(team, n, ld, p.W, n, out.X, ld);
    for (int part = 0; part < 2; ++part) {
      team.barrier();
      each_cell(team, n, V, [=](int t, int i) {
        p.x[size_t(t) * V + i] = (part ? power[n - 1 - t] : g[n - t]) * v[size_t(t) * V + i];
      });
      team.barrier();
      tile::gemm(team, F, V, n, Real(1), tile::transposed(k, F), tile::rows<Real>(p.x, V), Real(0),
                 out.added + part * (state_size() / 2), V);
    }
  }

  KOKKOS_FUNCTION void carry(const Team &team, const Chunk &c, const Summary &chunk, const Part &part,
                             const Real *before, Real *after, const Phase &) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv, ld = ldx(), begin = part.begin(V, 16), columns = part.end(V, 16) - begin;
    const Real from_momentum = eta * g(n), kept = power(n);
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

  KOKKOS_FUNCTION void read(const Team &team, const Chunk &c, const Summary &chunk, const Real *before,
                            const Phase &p) const {
    const Head<Real> h = arrays.head(c.head);
    const int n = c.n, F = h.Dk, V = h.Dv;
    weigh(team, n, h.q(c.first), h.k(c.first), 1, p);
    stack(team, n, h.q(c.first), 1, p.x, 2 * F);
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
  const double eta = call.params.real("eta");
  std::vector<double> g{0}, power{1};
  for (int m = 0; m < call.chunk; ++m) g.push_back(1 + eta * g.back()), power.push_back(eta * power.back());
  run_chunks("delta_momentum::chunked", call,
             MomentumAlgebra<Real>{Real(eta), HeadArrays<Real>(call), constants<Real>("g", g),
                                   constants<Real>("power", power)});
}

} // namespace

Variant delta_momentum() {
  Variant v;
  v.family = "delta rule";
  v.update = "A_t = I - k_t k_t^T, b_t k_t^T -> C_t = eta C_{t-1} + v_t k_t^T, phi = identity";
  v.objective = "|S k_t|^2 / 2 - sum_i eta^(t-i) <S k_i, v_i>, one gradient step of size 1";
  v.source = "000 Table 2, Eq 75-76";
  v.differs = "eta is one number";
  v.cost = 10 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("eta", 0.9, 0, 1, "momentum: how much of the last write is written again"), {0, 0.5})};
  v.layout = "S [Dv,Dk], C [Dv,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{2 * s.Dv, s.Dk}; };
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  return v;
}

} // namespace recollect::variants
