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
#include "harness/device/each_index.hpp"
#include "variants/kernels/gate_gradient.hpp"
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

  /// Steps since the last refresh, n after there were `since`; and what is added to A where that was now.
  KOKKOS_FUNCTION int since(int since, int n) const { return since + n == refresh ? 0 : since + n; }
  KOKKOS_FUNCTION Real added(int since) const { return refresh > 0 && since == 0 ? eta : Real(0); }
  KOKKOS_FUNCTION Real phi(Real x) const { return !elu ? x : x > 0 ? x + 1 : math::exp(x); }
  KOKKOS_FUNCTION static Real inverse(Real length) { return length > 0 ? 1 / length : Real(0); }
  /// Factors from f_t, w_t and A_t x_t to x_t, u_t and a_t; 0 for a zero vector.
  KOKKOS_FUNCTION Real key_factor(const Real *f, int n) const {
    return normalised ? inverse(length_of(f, n)) : Real(1);
  }
  KOKKOS_FUNCTION Real penalty_factor(const Real *w, int n) const {
    return u_norm > 0 ? u_norm * inverse(length_of(w, n)) : Real(1);
  }
  KOKKOS_FUNCTION Real write_factor(const Real *a, int n) const {
    return normalised ? inverse(length_of(a, n)) : Real(1);
  }
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
      since = rule.since(since, 1);
      const Real d = 1 + dot(u, z, F), added = rule.added(since);
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

/// What the recursions need of every step, for itself: phi(q), x and u.
template <class Real> struct VariationalRows {
  VariationalRule<Real> rule;
  int F;
  Array<Real> q, k, w;             // [B,H,T,F]
  Array<Real> query, key, penalty; // [B,H,T,F] phi(q_t), x_t, u_t

  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const size_t row = size_t(t) * F;
    const Real *const q = this->q.data() + row, *const k = this->k.data() + row, *const w = this->w.data() + row;
    Real *const x = key.data() + row;
    for (int j = first; j < F; j += side) query(row + j) = rule.phi(q[j]), x[j] = rule.phi(k[j]);
    if (rule.normalised) {
      const Real factor = rule.inverse(row_length(x, F, first, side));
      for (int j = first; j < F; j += side) x[j] *= factor;
    }
    const Real factor = rule.u_norm > 0 ? rule.u_norm * rule.inverse(row_length(w, F, first, side)) : Real(1);
    for (int j = first; j < F; j += side) penalty(row + j) = factor * w[j];
  }
};

/// A block of updates of A, and how it reads: A_t x_t = x_t A_0 - sum_{i<=t} (x_t . z_i) z_i / d_i.
template <class Real> struct VariationalBlock {
  RankOneBlock<Real> updates;
  std::ptrdiff_t ldw, ld;
  Real *W;         // [C,C] x_t . z_i for i <= t
  Real *x, *u, *a; // [C,F]

  KOKKOS_FUNCTION VariationalBlock(Stack<Real> &s, int C, int F) : ldw(tile::pitch<Real>(C)), ld(tile::pitch<Real>(F)) {
    updates.place(s, C, F);
    W = s.take(C * ldw), x = s.take(C * ld), u = s.take(C * ld), a = s.take(C * ld);
  }

  /// Begins with up to `steps` rows of u and x at A, and returns how many the block takes.
  KOKKOS_FUNCTION int update(const Team &team, const Real *penalties, const Real *keys, int steps, const Real *A) {
    const int F = updates.F;
    tile::copy(team, steps, F, penalties, F, u, ld);
    tile::copy(team, steps, F, keys, F, x, ld);
    team.barrier();
    updates.compute(team, steps, tile::rows<Real>(u, ld), A, ld);
    return updates.n;
  }
  /// a_t = A_t x_t, after the last step with eta I in A. Barriers inside and at the end.
  KOKKOS_FUNCTION void read(const Team &team, const Real *A, Real eta) const {
    const int n = updates.n, F = updates.F;
    const std::ptrdiff_t ld = this->ld;
    tile::Product<Real> own{tile::rows<Real>(x, ld), tile::transposed<Real>(updates.z, ld), F};
    own.wanted = {1, 1};
    tile::gemm(team, n, n, Real(1), own, {}, Real(0), W, ldw);
    tile::gemm(team, n, F, F, Real(1), tile::rows<Real>(x, ld), tile::rows(A, ld), Real(0), a, ld);
    team.barrier();
    keep_lower(team, n, W, ldw);
    team.barrier();
    tile::Product<Real> read{tile::rows<Real>(W, ldw), tile::rows<Real>(updates.gain, ld), n};
    read.given = {1, 1};
    tile::gemm(team, n, F, Real(-1), read, {}, Real(1), a, ld);
    team.barrier();
    Real *const last = a + (n - 1) * ld;
    const Real *const key = x + (n - 1) * ld;
    each(team, F, [=](int j) { last[j] += eta * key[j]; });
    team.barrier();
  }
  /// A after the block, eta I added. Barriers inside and at the end.
  KOKKOS_FUNCTION void carry(const Team &team, Real eta, Real *A) const {
    const std::ptrdiff_t ld = this->ld;
    updates.apply(team, Real(1), A, ld);
    each(team, updates.F, [=](int j) { A[j * ld + j] += eta; });
    team.barrier();
  }
};

/// Steps until a block must end: at a refresh, at a chunk's end, at the sequence's.
KOKKOS_FUNCTION inline int steps_until(int t, int T, int C, int refresh, int since) {
  int steps = C - t % C;
  if (T - t < steps) steps = T - t;
  if (refresh > 0 && refresh - since < steps) steps = refresh - since;
  return steps;
}

/// Sums of features up to every step, and after the last.
template <class Real> struct FeatureSums {
  VariationalRule<Real> rule;
  Array<Real> sums; // [B,H,T,F]
  bool moves;       // the state's sum with them
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, T = h.T;
    const VariationalRule<Real> rule = this->rule;
    const bool moves = this->moves;
    Real *const sums = this->sums.data() + h.index * T * F, *const sum = h.state + (size_t(h.Dv) + F) * F;
    const Real *const keys = h.k(0);
    each(team, F, [=](int j) {
      constexpr int together = 8; // read before the first is needed
      Real running = sum[j];
      for (int t0 = 0; t0 < T; t0 += together) {
        Real features[together];
        RECOLLECT_UNROLL
        for (int i = 0; i < together; ++i) features[i] = t0 + i < T ? rule.phi(keys[size_t(t0 + i) * F + j]) : Real(0);
        RECOLLECT_UNROLL
        for (int i = 0; i < together; ++i)
          if (t0 + i < T) sums[size_t(t0 + i) * F + j] = running += features[i];
      }
      if (moves) sum[j] = running;
    });
  }
};

/// b_t = A_t x_t at every step; and the final A and count.
template <class Real> struct VariationalInverse {
  VariationalRule<Real> rule;
  VariationalRows<Real> rows;
  Array<Real> b;      // [B,H,T,F]
  Array<Real> starts; // [B,H,T/C,F,F] takes A at the chunks' starts, and then the state stays as it was; or empty

  KOKKOS_FUNCTION static int longest(int C, int refresh) { return refresh > 0 && refresh < C ? refresh : C; }
  struct Room {
    VariationalBlock<Real> block;
    Real *A; // [F,F] rows block.ld apart
    KOKKOS_FUNCTION Room(Stack<Real> &s, int C, int F) : block(s, C, F) { A = s.take(F * block.ld); }
  };
  static size_t work_size(int C, int F, int refresh) {
    Stack<Real> stack;
    Room(stack, longest(C, refresh), F);
    return stack.used;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, C = h.chunk;
    const bool keeps = starts.extent(0);
    Real *const given = h.state + size_t(h.Dv) * F, *const count = given + size_t(F) * F + F;
    Stack<Real> stack{h.work};
    Room x(stack, longest(C, rule.refresh), F);
    const std::ptrdiff_t ld = x.block.ld;
    tile::copy(team, F, F, given, F, x.A, ld);
    int since = int(count[0]);
    for (int t = 0, n = 0; t < h.T; t += n) {
      const size_t row = h.index * h.T + t;
      if (keeps && t % C == 0) {
        team.barrier();
        const size_t chunk = h.index * ((h.T - 1) / C + 1) + t / C;
        tile::copy<Real>(team, F, F, x.A, ld, starts.data() + chunk * F * F, F);
      }
      n = x.block.update(team, rows.penalty.data() + row * F, rows.key.data() + row * F,
                         steps_until(t, h.T, C, rule.refresh, since), x.A);
      since = rule.since(since, n);
      const Real eta = rule.added(since);
      x.block.read(team, x.A, eta);
      tile::copy<Real>(team, n, F, x.block.a, ld, b.data() + row * F, F);
      x.block.carry(team, eta, x.A);
    }
    if (keeps) return;
    team.barrier();
    tile::copy<Real>(team, F, F, x.A, ld, given, F);
    once(team, [=, *this] { count[0] = rule.refresh > 0 ? Real(since) : Real(0); });
  }
};

/// From b to the directions a in which S is written; and what phi = elu + 1 divides outputs by.
template <class Real> struct VariationalWrites {
  VariationalRule<Real> rule;
  int F;
  Array<Real> query, sums, b, length, weight; // [B,H,T,F] three times, b becomes a; [B,H,T] |b_t|, p_t . c_t
  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const size_t row = size_t(t) * F;
    Real *const b = this->b.data() + row;
    const Real read = row_dot(query.data() + row, sums.data() + row, F, first, side);
    if (first == 0) weight(t) = read;
    if (!rule.normalised) return;
    const Real size = row_length(b, F, first, side), factor = rule.inverse(size);
    for (int j = first; j < F; j += side) b[j] *= factor;
    if (first == 0) length(t) = size;
  }
};

/// The rule's own rows of a call: what S is written and read by.
template <class Real> struct VariationalDirections {
  VariationalRule<Real> rule;
  VariationalRows<Real> rows;
  Array<Real> write, sums, length, weight; // as in VariationalWrites
  Array<Real> starts;                      // as in VariationalInverse
};

/// to = from / max(weight_t, 1e-4), row by row.
template <class Real> struct DivideRows {
  Array<Real> from, to, weight; // [B,H,T,width] twice, [B,H,T]
  int width;
  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const Real factor = 1 / math::fmax(weight(t), Real(1e-4));
    for (int i = first; i < width; i += side) to(size_t(t) * width + i) = factor * from(size_t(t) * width + i);
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

/// Leaves the final A, sum and count in the state, unless it keeps A at the chunks' starts.
template <class Real>
VariationalDirections<Real> variational_directions(const std::string &label, const Call<Real> &call, bool normalised,
                                                   const Array<Real> &starts = {}) {
  const VariationalRule<Real> rule = variational_rule(call, normalised);
  const size_t keys = call.k.extent(0), steps = call.steps();
  const int F = call.shape.Dk;
  const VariationalRows<Real> rows{
      rule, F, call.q, call.k, call.w, allocate(call, keys), allocate(call, keys), allocate(call, keys)};
  const VariationalDirections<Real> d{
      rule, rows, allocate(call, keys), allocate(call, keys), allocate(call, steps), allocate(call, steps), starts};
  using Inverse = VariationalInverse<Real>;
  each_row((label + "::rows").c_str(), int(steps), 4 * F, rows);
  each_head(label + "::sums", call, 0, FeatureSums<Real>{rule, d.sums, starts.extent(0) == 0});
  each_head(label + "::inverse", call, Inverse::work_size(call.chunk, F, rule.refresh),
            Inverse{rule, rows, d.write, starts});
  each_row((label + "::writes").c_str(), int(steps), 4 * F,
           VariationalWrites<Real>{rule, F, rows.query, d.sums, d.write, d.length, d.weight});
  return d;
}

template <class Real> void variational_chunked(const std::string &label, const Call<Real> &call, bool normalised) {
  const VariationalDirections<Real> d = variational_directions(label, call, normalised);
  Call<Real> mapped = call;
  mapped.q = d.rows.query;
  delta_rule(label, mapped, {1, d.rows.key, d.write, {}, {}, {}, {}});
  if (d.rule.elu)
    each_row((label + "::divide").c_str(), int(call.steps()), call.shape.Dv,
             DivideRows<Real>{call.o, call.o, d.weight, call.shape.Dv});
}

inline StateShape variational_state(const Shape &s, const Params &) { return {s.Dv + s.Dk + 2, s.Dk}; }

/// S = 0, A = I / lambda0, no features, no steps.
inline std::vector<double> variational_start(const Shape &s, const Params &p) {
  std::vector<double> state(size_t(s.Dv + s.Dk + 2) * s.Dk, 0.0);
  for (int i = 0; i < s.Dk; ++i) state[size_t(s.Dv + i) * s.Dk + i] = 1 / p.real("lambda0");
  return state;
}

} // namespace recollect::variants
