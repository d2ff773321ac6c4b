// SPDX-License-Identifier: Apache-2.0
// Gradients of variational.hpp's rule, step by step, a team a head. With f = phi(k), p = phi(q), c = sum of f, x = f / |f|,
// u from w, z = A_{t-1} u, D = 1 + u.z, b = A_t x, a = b / |b|, r = v - S_{t-1} x, o = S_t p / n and n = max(p.c, 1e-4):
//
//   y = do / n,  dS_t += y p^T,  dp = S_t^T y + dn c_t,  dn = - y.S_t p / n,  dc += dn p
//   dv = dr = dS_t a,  da = dS_t^T r,  dx = - S_{t-1}^T dr,  dS_{t-1} = dS_t - dr x^T
//   db = (da - (a.da) a) / |b|,  dA_t += db x^T,  dx += A_t^T db
//   dz = - (dA + dA^T) z / D + dD u,  dD = z^T dA z / D^2,  du = dD z + A_{t-1}^T dz,  dA_{t-1} = dA_t + dz u^T
//   df = (dx - (x.dx) x) / |f| + dc,  dw as df's through u = u_norm w / |w|
//
// Unnormalised, x = f and a = b, and with phi the identity n = 1. States are kept at the starts of chunks, and a chunk's
// own are computed anew: T / C + C of them.
#pragma once
#include "variants/kernels/variational.hpp"

namespace recollect::variants {

/// y += factor M^T x for M [rows,n], by the whole team. No barrier.
template <class Real>
KOKKOS_FUNCTION void add_transposed(const Team &team, int rows, int n, Real factor, const Real *M, const Real *x,
                                    Real *y) {
  if constexpr (on_host) { // along the rows
    for (int i = 0; i < rows; ++i) {
      const Real weight = factor * x[i], *row = M + size_t(i) * n;
      for (int j = 0; j < n; ++j) y[j] += weight * row[j];
    }
  } else {
    each(team, n, [=](int j) {
      Real sum = 0;
      for (int i = 0; i < rows; ++i) sum += M[size_t(i) * n + j] * x[i];
      y[j] += factor * sum;
    });
  }
}
/// M += factor x y^T, by the whole team. No barrier.
template <class Real>
KOKKOS_FUNCTION void add_outer(const Team &team, int rows, int n, Real factor, const Real *x, const Real *y, Real *M) {
  each_cell(team, rows, n, [=](int i, int j) { M[size_t(i) * n + j] += factor * x[i] * y[j]; });
}

/// dot(a, b, n) by the threads that share a row, known to each of them; `first` and `step` as each_row has them.
template <class Real>
KOKKOS_FUNCTION Real row_dot(const Real *a, const Real *b, int n, [[maybe_unused]] int first,
                             [[maybe_unused]] int step) {
  if constexpr (on_host) {
    return dot(a, b, n);
  } else {
    Real sum = 0;
    for (int j = first; j < n; j += step) sum += a[j] * b[j];
    return across_row(sum, [](Real x, Real y) { return x + y; });
  }
}
/// M x, a value at a time: f(i, M_i . x) by one thread. No barrier.
template <class Real, class F>
KOKKOS_FUNCTION void each_row_dot(const Team &team, int rows, int n, const Real *M, const Real *x, const F &f) {
  each_row(team, rows, [=](int i, int first, int step) {
    const Real found = row_dot(M + size_t(i) * n, x, n, first, step);
    if (first == 0) f(i, found);
  });
}

template <class Real> struct VariationalBackward {
  VariationalRule<Real> rule;
  int chunk; // steps between two of the states that are kept
  Array<Real> d_o, dq, dk, dv, dw, d_state;

  /// S, A and the sum of features, one after the other.
  struct State {
    Real *S, *A, *c;
    KOKKOS_FUNCTION State(Real *at, int F, int V) : S(at), A(at + size_t(V) * F), c(A + size_t(F) * F) {}
  };
  KOKKOS_FUNCTION static size_t size(int F, int V) { return size_t(V + F + 1) * F; }

  /// What a step leaves for the way back.
  struct Step {
    enum { size_f, size_w, size_b, D, n, clamped, facts };
    Real *f, *p, *x, *u, *z, *a, *r, *fact;
    KOKKOS_FUNCTION Step(Real *at, int F, int V)
        : f(at), p(f + F), x(p + F), u(x + F), z(u + F), a(z + F), r(a + F), fact(r + V) {}
    KOKKOS_FUNCTION static size_t size(int F, int V) { return 6 * size_t(F) + V + facts; }
  };

  struct Room {
    Real *starts, *states, *steps, *gradient; // [T / C] and [C + 1] states, [C] steps, a state
    Real *y, *dr, *dp, *dx, *da, *db, *dz, *du, *row, *column;
    KOKKOS_FUNCTION Room(Stack<Real> &s, int T, int C, int F, int V) {
      starts = s.take(size_t((T - 1) / C + 1) * size(F, V)), states = s.take(size_t(C + 1) * size(F, V));
      steps = s.take(size_t(C) * Step::size(F, V)), gradient = s.take(size(F, V));
      y = s.take(V), dr = s.take(V);
      for (Real **vector : {&dp, &dx, &da, &db, &dz, &du, &row, &column}) *vector = s.take(F);
    }
  };
  static size_t work_size(int T, int C, int F, int V) {
    Stack<Real> stack;
    Room(stack, T, C, F, V);
    return stack.used;
  }
  /// On a GPU the one that takes the least room: short texts' then fits a team's own memory.
  static int best_chunk(int T, int most, int F, int V) {
    int best = most;
    for (int C = most; !on_host && C > 0; --C)
      if (work_size(T, C, F, V) < work_size(T, best, F, V)) best = C;
    return best;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, V = h.Dv, C = chunk, chunks = (h.T - 1) / C + 1;
    const size_t size = VariationalBackward::size(F, V), step_size = Step::size(F, V);
    Stack<Real> stack{h.work};
    const Room x(stack, h.T, C, F, V);
    const int since = int(h.state[size]); // steps since the last refresh, at the start
    Real *const given = d_state.data() + h.index * (size + F);
    copy(team, size, h.state, x.starts);
    copy(team, size, given, x.gradient);
    team.barrier();
    for (int c = 0; c + 1 < chunks; ++c) {
      copy(team, size, x.starts + c * size, x.states);
      team.barrier();
      for (int i = 0; i < C; ++i) // two states, one after the other, and one step's room
        forth(team, h, c * C + i, since, State(x.states + size_t(i % 2) * size, F, V),
              State(x.states + size_t(1 - i % 2) * size, F, V), Step(x.steps, F, V));
      copy(team, size, x.states + size_t(C % 2) * size, x.starts + size_t(c + 1) * size);
      team.barrier();
    }
    for (int c = chunks; c-- > 0;) {
      const int n = h.T - c * C < C ? h.T - c * C : C;
      copy(team, size, x.starts + c * size, x.states);
      team.barrier();
      for (int i = 0; i < n; ++i)
        forth(team, h, c * C + i, since, State(x.states + i * size, F, V), State(x.states + (i + 1) * size, F, V),
              Step(x.steps + i * step_size, F, V));
      for (int i = n; i-- > 0;)
        back(team, h, c * C + i, State(x.states + i * size, F, V), State(x.states + (i + 1) * size, F, V),
             Step(x.steps + i * step_size, F, V), State(x.gradient, F, V), x);
    }
    copy(team, size, x.gradient, given);
    once(team, [=] { given[size] = 0; }); // of a count; what stands beside it passes as it is
  }

private:
  KOKKOS_FUNCTION static void copy(const Team &team, size_t n, const Real *from, Real *to) {
    for (size_t i = team.rank; i < n; i += team.size) to[i] = from[i];
  }
  KOKKOS_FUNCTION Real slope(Real x) const { return !rule.elu || x > 0 ? Real(1) : math::exp(x); }
  /// The derivative in x of <d, factor x / |x|> given unit = x / |x|; 0 where x is. By the whole team, no barrier.
  KOKKOS_FUNCTION static Real through_length(Real factor, const Real *unit, Real length, const Real *d, int n, int j) {
    return length > 0 ? factor * (d[j] - dot(unit, d, n) * unit[j]) / length : Real(0);
  }

  KOKKOS_FUNCTION void forth(const Team &team, const Head<Real> &h, int t, int since, const State &before,
                             const State &after, const Step &s) const {
    const int F = h.Dk, V = h.Dv;
    const VariationalRule<Real> rule = this->rule;
    const Real *k = h.k(t), *q = h.q(t), *v = h.v(t), *w = h.w(t);
    each(team, F, [=](int j) {
      s.f[j] = rule.phi(k[j]), s.p[j] = rule.phi(q[j]);
      after.c[j] = before.c[j] + s.f[j];
    });
    team.barrier();
    const Real key_factor = rule.key_factor(s.f, F), penalty_factor = rule.penalty_factor(w, F);
    each(team, F, [=](int j) { s.x[j] = key_factor * s.f[j], s.u[j] = penalty_factor * w[j]; });
    team.barrier();
    each_row_dot(team, F, F, before.A, s.u, [=](int i, Real found) { s.z[i] = found; });
    team.barrier();
    const bool refreshed = rule.refresh > 0 && (since + t + 1) % rule.refresh == 0;
    const Real d = 1 + dot(s.u, s.z, F), added = refreshed ? rule.eta : Real(0);
    each_row(team, F, [=](int i, int first, int step) {
      const Real zi = s.z[i] / d, *from = before.A + size_t(i) * F;
      Real *to = after.A + size_t(i) * F;
      for (int j = first; j < F; j += step) to[j] = from[j] - zi * s.z[j];
      if (i % step == first) to[i] += added;
      const Real written = row_dot(to, s.x, F, first, step);
      if (first == 0) s.a[i] = written;
    });
    team.barrier();
    const Real length = length_of(s.a, F), write_factor = rule.write_factor(s.a, F), read = dot(s.p, after.c, F);
    team.barrier(); // all have read b
    each(team, F, [=](int j) { s.a[j] *= write_factor; });
    once(team, [=] {
      s.fact[Step::size_f] = length_of(s.f, F), s.fact[Step::size_w] = length_of(w, F), s.fact[Step::size_b] = length;
      s.fact[Step::D] = d, s.fact[Step::clamped] = Real(rule.elu && read < Real(1e-4));
      s.fact[Step::n] = rule.elu ? math::fmax(read, Real(1e-4)) : Real(1);
    });
    team.barrier();
    each_row(team, V, [=](int i, int first, int step) {
      const Real *from = before.S + size_t(i) * F, wrong = v[i] - row_dot(from, s.x, F, first, step);
      Real *to = after.S + size_t(i) * F;
      if (first == 0) s.r[i] = wrong;
      for (int j = first; j < F; j += step) to[j] = from[j] + wrong * s.a[j];
    });
    team.barrier();
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const State &old, const State &now,
                            const Step &s, const State &d, const Room &x) const {
    const int F = h.Dk, V = h.Dv;
    const VariationalRule<Real> rule = this->rule;
    const size_t token = h.index * h.T + t;
    const Real n = s.fact[Step::n], D = s.fact[Step::D], *given = d_o.data() + token * V, *k = h.k(t), *q = h.q(t);
    Real *dq = this->dq.data() + token * F, *dk = this->dk.data() + token * F, *dv = this->dv.data() + token * V,
         *dw = this->dw.data() + token * F;
    each(team, V, [=](int i) { x.y[i] = given[i] / n; });
    each(team, F, [=](int j) { x.dp[j] = x.dx[j] = x.da[j] = x.column[j] = 0; });
    team.barrier();
    add_transposed(team, V, F, Real(1), now.S, x.y, x.dp);
    add_outer(team, V, F, Real(1), x.y, s.p, d.S);
    team.barrier();
    const bool divided = rule.elu && s.fact[Step::clamped] == 0;
    const Real dn = divided ? -dot(x.dp, s.p, F) / n : Real(0); // do.o / n = y.S p / n
    each(team, F, [=](int j) {
      dq[j] = slope(q[j]) * (x.dp[j] + dn * now.c[j]);
      d.c[j] += dn * s.p[j];
    });
    each_row_dot(team, V, F, d.S, s.a, [=](int i, Real found) { dv[i] = x.dr[i] = found; });
    add_transposed(team, V, F, Real(1), d.S, s.r, x.da);
    team.barrier();
    add_transposed(team, V, F, Real(-1), old.S, x.dr, x.dx);
    add_outer(team, V, F, Real(-1), x.dr, s.x, d.S);
    each(team, F, [=, *this](int j) {
      x.db[j] = rule.normalised ? through_length(Real(1), s.a, s.fact[Step::size_b], x.da, F, j) : x.da[j];
    });
    team.barrier();
    add_outer(team, F, F, Real(1), x.db, s.x, d.A);
    add_transposed(team, F, F, Real(1), now.A, x.db, x.dx);
    team.barrier();
    each_row_dot(team, F, F, d.A, s.z, [=](int i, Real found) { x.row[i] = found; });
    add_transposed(team, F, F, Real(1), d.A, s.z, x.column);
    team.barrier();
    const Real dD = dot(s.z, x.row, F) / (D * D);
    each(team, F, [=](int j) {
      x.dz[j] = -(x.row[j] + x.column[j]) / D + dD * s.u[j];
      x.du[j] = dD * s.z[j];
    });
    team.barrier();
    add_transposed(team, F, F, Real(1), old.A, x.dz, x.du);
    add_outer(team, F, F, Real(1), x.dz, s.u, d.A);
    team.barrier();
    const Real size_w = s.fact[Step::size_w], inverse = rule.u_norm > 0 ? 1 / rule.u_norm : Real(0),
               along = dot(s.u, x.du, F) * inverse * inverse; // unit = u / u_norm
    each(team, F, [=, *this](int j) {
      const Real df = rule.normalised ? through_length(Real(1), s.x, s.fact[Step::size_f], x.dx, F, j) : x.dx[j];
      dk[j] = slope(k[j]) * (df + d.c[j]);
      dw[j] = rule.u_norm == 0 ? x.du[j] : size_w > 0 ? rule.u_norm * (x.du[j] - along * s.u[j]) / size_w : Real(0);
    });
    team.barrier();
  }
};

/// Gradients of variational_chunked(back.call).
template <class Real> void variational_backward(const std::string &label, const Pullback<Real> &back, bool normalised) {
  const Call<Real> &call = back.call, &d = back.d;
  const Shape &s = call.shape;
  using Backward = VariationalBackward<Real>;
  const int chunk = Backward::best_chunk(s.T, call.chunk, s.Dk, s.Dv);
  each_head(label, call, Backward::work_size(s.T, chunk, s.Dk, s.Dv),
            Backward{variational_rule(call, normalised), chunk, d.o, d.q, d.k, d.v, d.w, d.state});
}

} // namespace recollect::variants
