// SPDX-License-Identifier: Apache-2.0
// Gradients of mlp_memory.hpp's definition, step by step (recurrent_backward.hpp). B and A have the b_j and a_j of
// M_{t-1} as rows. Let h = B k_t, y = A^T act(h), e the loss's gradient with respect to y, u = A e, s = act'(h), and
// from here on a = act(h). The gradient with respect to row j of M is G_j = [u_j s_j k_t, a_j e]. `step` is lr beta_t
// and `keep` alpha_t. D is the gradient of Z_t; the indices b and a mean the parts for B and for A:
//
//   dG = - step D,   d step = - <D, G>,   d keep = <dM_t, M_{t-1}>,   d eta = <D, Z_{t-1}>
//   du_j = s_j (dG_b k_t)_j,   da_j = (dG_a e)_j,   dk_t = dG_b^T (u s),   de = dG_a^T a + A^T du
//   dh_j = u_j act''(h_j) (dG_b k_t)_j + s_j (da_j + (A dy)_j)
//   dM_{t-1} = keep dM_t + [dh_j k_t, du_j e + a_j dy],   dk_t += B^T dh,   dZ_{t-1} = eta D
//
// dy is computed from de by the read's backward pass.
#pragma once
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/common/recurrent_backward.hpp"
#include "variants/kernels/online/mlp_memory.hpp"

namespace recollect::variants {

template <class Real, class Act, class Read> struct TrainBack {
  MlpMemory<Real, Act, Read> m;
  int Dk, Dv;

  /// read_h, read_a and read_y are h, a and y for the query; d_... are gradients.
  struct Buffers {
    Real *h, *a, *read_h, *read_a, *u, *d_a, *d_h, *d_read_h, *d_step, *d_keep, *d_eta; // [width]
    Real *y, *e, *read_y, *d_e, *d_y;                                                   // [Dv]
  };
  KOKKOS_FUNCTION Buffers place(Stack<Real> &s) const {
    Buffers x;
    Real **const units[] = {&x.h,   &x.a,        &x.read_h, &x.read_a, &x.u,    &x.d_a,
                            &x.d_h, &x.d_read_h, &x.d_step, &x.d_keep, &x.d_eta};
    Real **const values[] = {&x.y, &x.e, &x.read_y, &x.d_e, &x.d_y};
    for (Real **unit : units) *unit = s.take(m.width);
    for (Real **value : values) *value = s.take(Dv);
    return x;
  }
  KOKKOS_FUNCTION Buffers place(Real *memory) const {
    Stack<Real> s{memory};
    return place(s);
  }
  KOKKOS_FUNCTION size_t scratch() const {
    Stack<Real> s;
    place(s);
    return s.used;
  }

  /// h = B x, a = act(h), y = A^T a.
  KOKKOS_FUNCTION void apply(const Team &team, const Real *M, const Real *x, Real *h, Real *a, Real *y) const {
    const int F = Dk, V = Dv, row = F + V;
    const Act act = m.act;
    each(team, m.width, [=](int j) {
      h[j] = dot(M + size_t(j) * row, x, F);
      a[j] = act.value(h[j]);
    });
    each(team, V, [=](int c) { y[c] = 0; });
    team.barrier();
    down_columns(team, m.width, V, [=](int j, int c) { y[c] += a[j] * M[size_t(j) * row + F + c]; });
    team.barrier();
  }
  /// Runs apply() at the key, then computes the loss's gradient e.
  KOKKOS_FUNCTION void learn(const Team &team, const Head<Real> &head, int t, const Real *M, const Buffers &x) const {
    apply(team, M, head.k(t), x.h, x.a, x.y);
    once(team, [=, *this] { m.head.gradient(Dk, Dv, head.k(t), head.v(t), x.y, x.e); });
    team.barrier();
  }

  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &head, int t, const Real *before, Real *after,
                               Real *memory) const {
    const Buffers x = place(memory);
    learn(team, head, t, before, x);
    const int F = Dk, V = Dv, row = F + V;
    const size_t half = size_t(m.width) * row;
    const MlpMemory<Real, Act, Read> net = m;
    const Real *k = head.k(t), step = m.lr * head.beta[t], keep = head.alpha ? head.alpha[t] : Real(1),
               eta = m.kept_momentum(head.lambda_, F, t);
    each(team, m.width, [=](int j) {
      const Real *unit = before + size_t(j) * row, slope = dot(x.e, unit + F, V) * net.act.slope(x.h[j]);
      Real *to = after + size_t(j) * row;
      for (int c = 0; c < row; ++c) {
        Real change = -step * (c < F ? slope * k[c] : x.a[j] * x.e[c - F]);
        if (net.momentum) change = to[half + c] = eta * unit[half + c] + change;
        to[c] = keep * unit[c] + change;
      }
    });
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &head, int t, const Real *before, const Real *after,
                            Real *dM, const StepGradient<Real> &d, Real *memory) const {
    const Buffers x = place(memory);
    learn(team, head, t, before, x);
    apply(team, after, head.q(t), x.read_h, x.read_a, x.read_y);
    const int F = Dk, V = Dv, W = m.width, row = F + V;
    const MlpMemory<Real, Act, Read> net = m;
    const Real *k = head.k(t), *q = head.q(t), step = m.lr * head.beta[t], keep = head.alpha ? head.alpha[t] : Real(1),
               eta = m.kept_momentum(head.lambda_, F, t);
    Real *const D = dM + (m.momentum ? size_t(W) * row : 0);
    once(team, [=] {
      for (int c = 0; c < F; ++c) d.q[c] = d.k[c] = 0;
      net.head.read_vjp(F, V, x.read_y, d.o, x.d_y, d.q);
    });
    team.barrier();
    each(team, W, [=](int j) {
      const size_t first = size_t(j) * row;
      const Real *unit = before + first;
      Real *own = dM + first, *added = D + first;
      x.d_read_h[j] = dot(x.d_y, after + first + F, V) * net.act.slope(x.read_h[j]);
      for (int c = 0; c < F; ++c) own[c] += x.d_read_h[j] * q[c];
      for (int c = 0; c < V; ++c) own[F + c] += x.read_a[j] * x.d_y[c];
      if (net.momentum) {
        for (int c = 0; c < row; ++c) added[c] += own[c];
        x.d_eta[j] = dot(added, unit + size_t(W) * row, row);
      }
      x.d_keep[j] = dot(own, unit, row);
      const Real along_key = dot(added, k, F), along_error = dot(added + F, x.e, V), slope = net.act.slope(x.h[j]);
      x.u[j] = dot(x.e, unit + F, V);
      x.d_step[j] = -(x.u[j] * slope * along_key + x.a[j] * along_error);
      x.d_a[j] = -step * along_error;
      x.d_h[j] = -step * along_key * x.u[j] * net.act.curvature(x.h[j]);
      x.u[j] *= slope;
      x.read_a[j] = -step * along_key * slope; // du_j from this line on
    });
    each(team, V, [=](int c) { x.d_e[c] = 0; });
    team.barrier();
    down_columns(team, W, row, [=](int j, int c) {
      const size_t cell = size_t(j) * row + c;
      if (c < F) {
        d.q[c] += x.d_read_h[j] * after[cell];
        d.k[c] -= step * x.u[j] * D[cell];
      } else {
        x.d_e[c - F] += x.read_a[j] * before[cell] - step * x.a[j] * D[cell];
      }
    });
    team.barrier();
    once(team, [=] { net.head.gradient_vjp(F, V, k, head.v(t), x.y, x.d_e, x.d_y, d.k, d.v); });
    team.barrier();
    each(team, W, [=](int j) {
      const size_t first = size_t(j) * row;
      x.d_h[j] += (x.d_a[j] + dot(x.d_y, before + first + F, V)) * net.act.slope(x.h[j]);
      Real *own = dM + first;
      if (net.momentum)
        for (int c = 0; c < row; ++c) D[first + c] *= eta;
      for (int c = 0; c < F; ++c) own[c] = keep * own[c] + x.d_h[j] * k[c];
      for (int c = 0; c < V; ++c) own[F + c] = keep * own[F + c] + x.read_a[j] * x.e[c] + x.a[j] * x.d_y[c];
    });
    team.barrier();
    down_columns(team, W, F, [=](int j, int c) { d.k[c] += x.d_h[j] * before[size_t(j) * row + c]; });
    once(team, [=] {
      Real d_step = 0, d_keep = 0, d_eta = 0;
      for (int j = 0; j < W; ++j) d_step += x.d_step[j], d_keep += x.d_keep[j];
      if (net.momentum)
        for (int j = 0; j < W; ++j) d_eta += x.d_eta[j];
      *d.beta = net.lr * d_step;
      if (d.alpha) *d.alpha = d_keep;
      if (d.lambda)
        for (int c = 0; c < F; ++c) d.lambda[c] = c > 0 ? Real(0) : net.eta * d_eta;
    });
  }
};

template <class Real, class Act, class Read>
void train_vjp(const std::string &label, const BackwardCall<Real> &back, const MlpMemory<Real, Act, Read> &m) {
  recurrent_vjp(label, back, TrainBack<Real, Act, Read>{m, back.call.shape.Dk, back.call.shape.Dv});
}

} // namespace recollect::variants
