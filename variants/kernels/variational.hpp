// SPDX-License-Identifier: Apache-2.0
// Variational linear attention (004 Alg 1, Eq 8-11), normalised (v3) or not (v2). With f = phi(k_t), key x_t = f or f /
// |f| and penalty direction u_t from w_t:
//
//   A_t = A_{t-1} - z z^T / (1 + u_t . z),  z = A_{t-1} u_t;   every `refresh` steps A_t = A_t + eta I
//   S_t = S_{t-1} + (v_t - S_{t-1} x_t) a_t^T,                 a_t = A_t x_t or A_t x_t / |A_t x_t|
//   o_t = S_t phi(q_t) / max(phi(q_t) . sum_{i<=t} phi(k_i), 1e-4) with phi = elu + 1;   o_t = S_t q_t with phi the
//   identity
//
// 1 + u . z >= 1, because A is positive definite: Algorithm 1's clamp of it at 1e-4 never acts.
// The state stacks S [Dv,Dk], A [Dk,Dk] (at first I / lambda0), the sum of features [1,Dk] and the steps since the last
// refresh [1,Dk], in its first element. Chunked: A in Woodbury blocks that end at a refresh, then S in the WY form with
// erase key x_t and write direction a_t, which differ.
#pragma once
#include "variants/kernels/regression.hpp"
#include "variants/kernels/unit_rows.hpp"
#include "variants/kernels/wy.hpp"
#include <cmath>

namespace recollect::variants {

template <class Real> struct VariationalRule {
  bool elu;        // phi = elu + 1, and the output is divided; else the identity
  bool normalised; // x_t and a_t to length 1
  Real u_norm;     // length of u_t, 0: as w_t is
  int refresh;     // steps, 0: never
  Real eta;

  KOKKOS_FUNCTION Real phi(Real x) const { return !elu ? x : x > 0 ? x + 1 : math::exp(x); }
  KOKKOS_FUNCTION static Real inverse_norm(const Real *x, int n) {
    const Real length = length_of(x, n);
    return length > 0 ? 1 / length : Real(0);
  }
  /// Factors from f_t, w_t and A_t x_t to x_t, u_t and a_t; 0 for a zero vector.
  KOKKOS_FUNCTION Real key_factor(const Real *f, int n) const { return normalised ? inverse_norm(f, n) : Real(1); }
  KOKKOS_FUNCTION Real penalty_factor(const Real *w, int n) const {
    return u_norm > 0 ? u_norm * inverse_norm(w, n) : Real(1);
  }
  KOKKOS_FUNCTION Real write_factor(const Real *a, int n) const { return normalised ? inverse_norm(a, n) : Real(1); }
  /// The output's factor from the sum of features and phi(q).
  KOKKOS_FUNCTION Real read_factor(const Real *sum, const Real *query, int n) const {
    return elu ? 1 / math::fmax(dot(sum, query, n), Real(1e-4)) : Real(1);
  }
};

template <class Real> struct VariationalRecurrent {
  VariationalRule<Real> rule;

  static size_t work_size(int F) { return 6 * size_t(F); }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv;
    const VariationalRule<Real> rule = this->rule;
    Real *S = h.state, *A = S + size_t(Dv) * F, *sum = A + size_t(F) * F, *count = sum + F;
    Real *f = h.work, *x = f + F, *u = x + F, *z = u + F, *a = z + F, *query = a + F;
    int since = int(count[0]);
    for (int t = 0; t < h.T; ++t) {
      const Real *k = h.k(t), *q = h.q(t), *v = h.v(t), *w = h.w(t);
      Real *o = h.o(t);
      team.barrier();
      each(team, F, [=](int j) {
        f[j] = rule.phi(k[j]);
        query[j] = rule.phi(q[j]);
        sum[j] += f[j];
      });
      team.barrier();
      const Real key_factor = rule.key_factor(f, F), penalty_factor = rule.penalty_factor(w, F);
      each(team, F, [=](int j) {
        x[j] = key_factor * f[j];
        u[j] = penalty_factor * w[j];
      });
      team.barrier();
      each(team, F, [=](int i) { z[i] = dot(A + size_t(i) * F, u, F); });
      team.barrier();
      since = since + 1 == rule.refresh ? 0 : since + 1;
      const Real d = 1 + dot(u, z, F), added = rule.refresh > 0 && since == 0 ? rule.eta : Real(0);
      each(team, F, [=](int i) {
        const Real zi = z[i] / d;
        for (int j = 0; j < F; ++j) A[size_t(i) * F + j] -= zi * z[j];
        A[size_t(i) * F + i] += added;
        a[i] = dot(A + size_t(i) * F, x, F);
      });
      team.barrier();
      const Real write_factor = rule.write_factor(a, F), read_factor = rule.read_factor(sum, query, F);
      each(team, Dv, [=](int i) {
        Real *s = S + size_t(i) * F;
        const Real written = write_factor * (v[i] - dot(s, x, F));
        for (int j = 0; j < F; ++j) s[j] += written * a[j];
        o[i] = read_factor * dot(s, query, F);
      });
    }
    team.barrier();
    once(team, [=] { count[0] = rule.refresh > 0 ? Real(since) : Real(0); });
  }
};

/// What S needs of every step, phi(q), x, a and the factor of the output, into arrays of its own; and the final A, sum
/// and count.
template <class Real> struct VariationalDirections {
  VariationalRule<Real> rule;
  Array<Real> query, key, write, factor; // [B,H,T,Dk] three times, [B,H,T]

  static size_t work_size(int C, int F) { return RankOneBlock<Real>::work_size(C, F) + size_t(C) * (C + 2 * F); }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, C = h.chunk;
    const VariationalRule<Real> rule = this->rule;
    const size_t first = h.index * h.T;
    Real *A = h.state + size_t(h.Dv) * F, *sum = A + size_t(F) * F, *count = sum + F;
    RankOneBlock<Real> block{};
    Real *W = block.place(h.work, C, F); // [C,C] x_t . z_i for i <= t
    Real *u = W + size_t(C) * C;         // [C,F]
    Real *sums = u + size_t(C) * F;      // [C,F] running sums of features
    int since = int(count[0]);
    for (int t0 = 0; t0 < h.T;) {
      int steps = h.T - t0 < C ? h.T - t0 : C;
      if (rule.refresh > 0 && rule.refresh - since < steps) steps = rule.refresh - since;
      Real *x = key.data() + (first + t0) * F, *a = write.data() + (first + t0) * F,
           *p = query.data() + (first + t0) * F;
      Real *factor = this->factor.data() + first + t0;
      const Real *k = h.k(t0), *q = h.q(t0), *w = h.w(t0);
      team.barrier();
      each(team, steps, [=](int t) {
        const size_t row = size_t(t) * F;
        for (int j = 0; j < F; ++j) {
          x[row + j] = rule.phi(k[row + j]);
          p[row + j] = rule.phi(q[row + j]);
        }
        const Real penalty_factor = rule.penalty_factor(w + row, F);
        for (int j = 0; j < F; ++j) u[row + j] = penalty_factor * w[row + j];
      });
      team.barrier();
      block.u = u, block.noise = nullptr;
      block.compute(team, steps, A);
      const int n = block.n;
      each(team, F, [=](int j) {
        for (int t = 0; t < n; ++t) sums[size_t(t) * F + j] = sum[j] += x[size_t(t) * F + j];
      });
      team.barrier();
      each(team, n, [=](int t) {
        const size_t row = size_t(t) * F;
        factor[t] = rule.read_factor(sums + row, p + row, F);
        const Real key_factor = rule.key_factor(x + row, F);
        for (int j = 0; j < F; ++j) x[row + j] *= key_factor;
      });
      team.barrier();
      tile::gemm(team, n, n, F, Real(1), tile::rows(x, F), tile::transposed<Real>(block.z, F), Real(0), W, n);
      tile::gemm(team, n, F, F, Real(1), tile::rows(x, F), tile::rows<Real>(A, F), Real(0), a, F);
      team.barrier();
      each(team, n, [=](int t) {
        for (int i = t + 1; i < n; ++i) W[size_t(t) * n + i] = 0;
      });
      team.barrier();
      const tile::Product<Real> own{tile::rows(W, n), tile::rows<Real>(block.gain, F), n, {1, 1}};
      tile::gemm(team, n, F, Real(-1), own, {}, Real(1), a, F);
      block.apply(team, Real(1), A);
      since = since + n == rule.refresh ? 0 : since + n;
      const Real added = rule.refresh > 0 && since == 0 ? rule.eta : Real(0);
      each(team, F, [=](int j) {
        A[size_t(j) * F + j] += added;
        a[size_t(n - 1) * F + j] += added * x[size_t(n - 1) * F + j];
      });
      team.barrier();
      each(team, n, [=](int t) {
        const Real write_factor = rule.write_factor(a + size_t(t) * F, F);
        for (int j = 0; j < F; ++j) a[size_t(t) * F + j] *= write_factor;
      });
      t0 += n;
    }
    team.barrier();
    once(team, [=] { count[0] = rule.refresh > 0 ? Real(since) : Real(0); });
  }
};

template <class Real> struct VariationalScale {
  Array<Real> factor;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const Real *factor = this->factor.data() + h.index * h.T;
    each(team, h.T, [=](int t) {
      for (int i = 0; i < h.Dv; ++i) h.o(t)[i] *= factor[t];
    });
  }
};

template <class Real> VariationalRule<Real> variational_rule(const Call<Real> &call, bool normalised) {
  const Params &p = call.params;
  const Real u_norm = p.real_or("u_norm", 1 / std::sqrt(double(call.shape.Dk)));
  return {p.text("phi") == "elu", normalised, u_norm, p.integer("refresh"), Real(p.real("eta"))};
}

template <class Real> void variational_recurrent(const std::string &label, const Call<Real> &call, bool normalised) {
  each_head(label, call, VariationalRecurrent<Real>::work_size(call.shape.Dk),
            VariationalRecurrent<Real>{variational_rule(call, normalised)});
}

template <class Real> void variational_chunked(const std::string &label, const Call<Real> &call, bool normalised) {
  Call<Real> mapped = call;
  mapped.q = allocate(call, call.q.extent(0));
  const Array<Real> key = allocate(call, call.k.extent(0)), write = allocate(call, call.k.extent(0)),
                    factor = allocate(call, call.steps());
  const VariationalRule<Real> rule = variational_rule(call, normalised);
  each_head(label + "::directions", call, VariationalDirections<Real>::work_size(call.chunk, call.shape.Dk),
            VariationalDirections<Real>{rule, mapped.q, key, write, factor});
  delta_rule(label, mapped, {1, key, write, {}, {}, {}, {}});
  if (rule.elu) each_head(label + "::scale", call, 0, VariationalScale<Real>{factor});
}

inline StateShape variational_state(const Shape &s, const Params &) { return {s.Dv + s.Dk + 2, s.Dk}; }

/// S = 0, A = I / lambda0, no features, no steps.
inline std::vector<double> variational_start(const Shape &s, const Params &p) {
  std::vector<double> state(size_t(s.Dv + s.Dk + 2) * s.Dk, 0.0);
  for (int i = 0; i < s.Dk; ++i) state[size_t(s.Dv + i) * s.Dk + i] = 1 / p.real("lambda0");
  return state;
}

} // namespace recollect::variants
