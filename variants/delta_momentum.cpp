// SPDX-License-Identifier: Apache-2.0
// DeltaNet with momentum on the write (000 Table 2 and Appendix B.2, Eq 75-76).
//
//   C_t = eta C_{t-1} + v_t k_t^T
//   S_t = S_{t-1} (I - k_t k_t^T) + C_t
//   o_t = S_t q_t
//
// State: 2 Dv x Dk, S above C. Cost a token: recurrent 9 Dv Dk; chunked 12 Dv Dk + C (4 Dk + 7 Dv) flops, as matrix
// products.
#include "harness/device/tile.hpp"
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
template <class Real> struct Chunked {
  Real eta;

  static size_t work_size(int C, int F, int Dv) {
    return size_t(2) * C * C + size_t(2) * C * F + size_t(C) * Dv + size_t(2) * F * Dv + 2 * (C + 1);
  }

  /// One head's workspace and the chunk's n steps.
  struct Chunk {
    int n, F, Dv;
    const Real *k, *v;
    Real *kT;        // [F,n]
    Real *W;         // [n,n] x_t . k_i for i < t + shift, else 0
    Real *G;         // [n,n] the same times g(t + shift - i)
    Real *x;         // [n,F] rows times eta g
    Real *ST, *CT;   // [F,Dv] transposed S_0 and C_0
    Real *g, *power; // [n+1] g(m), eta^m
  };

  /// out_t = sign (S_0 x_t + eta g C_0 x_t + sum G_ti v_i): what is read after t + shift steps, but for the e_i; W is
  /// left set.
  KOKKOS_FUNCTION void read(const Team &team, const Chunk &c, const Real *x, int shift, Real sign, Real *out) const {
    const Real eta = this->eta;
    tile::gemm(team, c.n, c.n, c.F, Real(1), tile::rows(x, c.F), tile::rows<Real>(c.kT, c.n), Real(0), c.W, c.n);
    team.barrier();
    each(team, c.n, [=](int t) {
      for (int i = 0; i < c.n; ++i) {
        Real &w = c.W[size_t(t) * c.n + i];
        if (i >= t + shift) w = 0;
        c.G[size_t(t) * c.n + i] = i < t + shift ? w * c.g[t + shift - i] : Real(0);
      }
      for (int j = 0; j < c.F; ++j) c.x[size_t(t) * c.F + j] = eta * c.g[t + shift] * x[size_t(t) * c.F + j];
    });
    tile::gemm(team, c.n, c.Dv, c.F, sign, tile::rows(x, c.F), tile::rows<Real>(c.ST, c.Dv), Real(0), out, c.Dv);
    team.barrier();
    tile::gemm(team, c.n, c.Dv, c.F, sign, tile::rows(c.x, c.F), tile::rows<Real>(c.CT, c.Dv), Real(1), out, c.Dv);
    team.barrier();
    tile::gemm(team, c.n, c.Dv, c.n, sign, tile::rows(c.G, c.n), tile::rows<Real>(c.v, c.Dv), Real(1), out, c.Dv);
    team.barrier();
  }

  /// M = keep M + sum_i k_i u_i^T, transposed state M [F,Dv].
  KOKKOS_FUNCTION void write(const Team &team, const Chunk &c, const Real *u, Real keep, Real *M) const {
    tile::gemm(team, c.F, c.Dv, c.n, Real(1), tile::transposed(c.k, c.F), tile::rows<Real>(u, c.Dv), keep, M, c.Dv);
    team.barrier();
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv, C = h.chunk;
    const size_t state = size_t(Dv) * F;
    const Real eta = this->eta;
    Chunk c{0, F, Dv, nullptr, nullptr, h.work, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    c.W = c.kT + size_t(C) * F, c.G = c.W + size_t(C) * C, c.x = c.G + size_t(C) * C;
    c.ST = c.x + size_t(C) * F, c.CT = c.ST + state, c.g = c.CT + state, c.power = c.g + C + 1;
    Real *E = c.power + C + 1; // [C,Dv]
    tile::transpose(team, Dv, F, h.state, F, c.ST, Dv);
    tile::transpose(team, Dv, F, h.state + state, F, c.CT, Dv);
    once(team, [=] {
      c.g[0] = 0, c.power[0] = 1;
      for (int m = 0; m < C; ++m) c.g[m + 1] = 1 + eta * c.g[m], c.power[m + 1] = eta * c.power[m];
    });

    for (int t0 = 0; t0 < h.T; t0 += C) {
      const int n = h.T - t0 < C ? h.T - t0 : C;
      c.n = n, c.k = h.k(t0), c.v = h.v(t0);
      team.barrier();
      tile::transpose(team, n, F, c.k, F, c.kT, n);
      team.barrier();
      read(team, c, c.k, 0, Real(-1), E);
      tile::solve_unit_lower(team, n, Dv, c.W, n, E, Dv);
      team.barrier();
      read(team, c, h.q(t0), 1, Real(1), h.o(t0));
      tile::gemm(team, n, Dv, n, Real(1), tile::rows(c.W, n), tile::rows<Real>(E, Dv), Real(1), h.o(t0), Dv);
      each(team, F, [=](int j) {
        for (int i = 0; i < Dv; ++i) c.ST[size_t(j) * Dv + i] += eta * c.g[n] * c.CT[size_t(j) * Dv + i];
      });
      team.barrier();
      each(team, n, [=](int t) {
        for (int i = 0; i < Dv; ++i) E[size_t(t) * Dv + i] += c.g[n - t] * c.v[size_t(t) * Dv + i];
      });
      team.barrier();
      write(team, c, E, Real(1), c.ST);
      each(team, n, [=](int t) {
        for (int i = 0; i < Dv; ++i) E[size_t(t) * Dv + i] = c.power[n - 1 - t] * c.v[size_t(t) * Dv + i];
      });
      team.barrier();
      write(team, c, E, c.power[n], c.CT);
    }
    team.barrier();
    tile::transpose(team, F, Dv, c.ST, Dv, h.state, F);
    tile::transpose(team, F, Dv, c.CT, Dv, h.state + state, F);
  }
};

template <class Real> void chunked(const Call<Real> &call) {
  each_head("delta_momentum::chunked", call, Chunked<Real>::work_size(call.chunk, call.shape.Dk, call.shape.Dv),
            Chunked<Real>{Real(call.params.real("eta"))});
}

} // namespace

Variant delta_momentum() {
  Variant v;
  v.family = "delta rule";
  v.update = "A_t = I - k_t k_t^T, b_t k_t^T -> C_t = eta C_{t-1} + v_t k_t^T, phi = identity";
  v.objective = "|S k_t|^2 / 2 - sum_i eta^(t-i) <S k_i, v_i>, one gradient step of size 1";
  v.source = "000 Table 2, Eq 75-76";
  v.cost = "9 Dv Dk flops";
  v.params = {real_param("eta", 0.9, 0, 1, "momentum: how much of the last write is written again")};
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{2 * s.Dv, s.Dk}; };
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>}, {"chunked", chunked<float>, chunked<double>}};
  return v;
}

} // namespace recollect::variants
