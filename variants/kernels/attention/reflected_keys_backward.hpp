// SPDX-License-Identifier: Apache-2.0
// Gradients of reflected_keys.hpp's attention, key after key. Let x_t be key i as query t reads it: x_i = k_i, and x_t
// = H_t x_{t-1} for t > i. Let p_t be the softmax weight of key i for query t, and dz_t = p_t (do_t . v_i - do_t . o_t)
// the gradient of its logit. The gradient g of x_t is computed from the last step back to step i:
//
//   g += scale dz_t q_t,   dq_t += scale dz_t x_t,   d beta_t -= (w_t . x_{t-1}) (w_t . g)
//   dw_t -= beta_t ((w_t . x_{t-1}) g + (w_t . g) x_{t-1}),   g -= beta_t (w_t . g) w_t,   at last dk_i = g
//
// A first pass over the keys computes the normalisers and do_t . o_t.
#pragma once
#include "variants/kernels/attention/attention.hpp"

namespace recollect::variants {

/// Scratch of a head: x [T,Dk], g [Dk], and six numbers per step.
template <class Real> struct ReflectedKeysBack {
  Real scale;
  Array<Real> d_o, d_q, d_k, d_v, d_beta, d_w;

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int D = h.Dk, V = h.Dv, T = h.T;
    const size_t first = h.index * T;
    Real *const x = h.work, *const g = x + size_t(T) * D, *const along = g + D, *const z = along + T,
                *const value = z + T, *const peak = value + T, *const mass = peak + T, *const mean = mass + T;
    Real *const dq = d_q.data() + first * D, *const dw = d_w.data() + first * D, *const dbeta = d_beta.data() + first;
    const Real *const d_out = d_o.data() + first * V;
    each(team, T, [=](int t) {
      dbeta[t] = 0;
      for (int j = 0; j < D; ++j) dq[size_t(t) * D + j] = dw[size_t(t) * D + j] = 0;
    });
    team.barrier();
    for (int i = 0; i < T; ++i) {
      follow(team, h, i, x, along, z, value);
      each(team, T - i, [=](int later) {
        const int t = i + later;
        const Real larger = i > 0 ? math::fmax(peak[t], z[t]) : z[t];
        const Real before = math::exp(peak[t] - larger), now = math::exp(z[t] - larger);
        mass[t] = i > 0 ? mass[t] * before + now : now;
        mean[t] = i > 0 ? mean[t] * before + now * value[t] : now * value[t];
        peak[t] = larger;
      });
      team.barrier();
    }
    for (int i = 0; i < T; ++i) {
      follow(team, h, i, x, along, z, value);
      each(team, T - i, [=](int later) {
        const int t = i + later;
        const Real p = math::exp(z[t] - peak[t]) / mass[t];
        z[t] = p, value[t] = scale * p * (value[t] - mean[t] / mass[t]);
      });
      team.barrier();
      each(team, V, [=](int c) {
        Real sum = 0;
        for (int t = i; t < T; ++t) sum += z[t] * d_out[size_t(t) * V + c];
        d_v((first + i) * V + c) = sum;
      });
      each(team, D, [=](int j) { g[j] = 0; });
      for (int t = T - 1; t >= i; --t) {
        const Real *q = h.q(t), *w = h.w(t), *after = x + size_t(t) * D, *before = after - D;
        const Real logit = value[t], beta = t > i ? h.beta[t] : Real(0);
        each(team, D, [=](int j) { g[j] += logit * q[j], dq[size_t(t) * D + j] += logit * after[j]; });
        team.barrier();
        if (t == i) break;
        const Real through = dot(g, w, D);
        team.barrier();
        each(team, D, [=](int j) {
          dw[size_t(t) * D + j] -= beta * (along[t] * g[j] + through * before[j]);
          g[j] -= beta * through * w[j];
        });
        if (team.rank == 0) dbeta[t] -= along[t] * through;
        team.barrier();
      }
      each(team, D, [=](int j) { d_k((first + i) * D + j) = g[j]; });
      team.barrier();
    }
  }

private:
  /// For every t >= i, computes x_t of key i, its logit z_t, along_t = w_t . x_{t-1} (t > i), and value_t = do_t . v_i.
  KOKKOS_FUNCTION void follow(const Team &team, const Head<Real> &h, int i, Real *x, Real *along, Real *z,
                              Real *value) const {
    const int D = h.Dk, V = h.Dv;
    const Real *const d_out = d_o.data() + h.index * h.T * V, factor = scale;
    each(team, D, [=](int j) { x[size_t(i) * D + j] = h.k(i)[j]; });
    team.barrier();
    for (int t = i + 1; t < h.T; ++t) {
      const Real *w = h.w(t), *before = x + size_t(t - 1) * D;
      Real *const after = x + size_t(t) * D;
      const Real overlap = dot(before, w, D), beta = h.beta[t];
      if (team.rank == 0) along[t] = overlap;
      each(team, D, [=](int j) { after[j] = before[j] - beta * overlap * w[j]; });
      team.barrier();
    }
    each(team, h.T - i, [=](int later) {
      const int t = i + later;
      z[t] = factor * dot(x + size_t(t) * D, h.q(t), D), value[t] = dot(d_out + size_t(t) * V, h.v(i), V);
    });
    team.barrier();
  }
};

template <class Real> void reflected_keys_vjp(const std::string &label, const BackwardCall<Real> &back, Real scale) {
  const Shape &s = back.call.shape;
  each_head(label, back.call, size_t(s.T) * (s.Dk + 6) + s.Dk,
            ReflectedKeysBack<Real>{scale, back.d.o, back.d.q, back.d.k, back.d.v, back.d.beta, back.d.w});
}

} // namespace recollect::variants
