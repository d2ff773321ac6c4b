// SPDX-License-Identifier: Apache-2.0
// Recursive least squares, backwards. With z = P_{t-1} k, D = 1 + k.z, a = z / D, r = v - S_{t-1} k, S_t = S_{t-1} + r a^T,
// P_t = P_{t-1} - z z^T / D and o_t = S_t q_t:
//   dS_t += do q^T,  dq = S_t^T do,  dr = dS_t a,  da = dS_t^T r,  dv = dr,  dS_{t-1} = dS_t - dr k^T
//   dz = da / D - 2 dP z / D + dD k,  dD = (z^T dP z - z.da) / D^2,  dk = -S_{t-1}^T dr + dD z + P_{t-1} dz
//   dP_{t-1} = dP_t + (dz k^T + k dz^T) / 2
// P is symmetric, and starts as I / ridge; dP is kept so.
#include "harness/train/adjoint.hpp"
#include "harness/train/parallel.hpp"

namespace recollect::train {
namespace {

using Numbers = std::vector<double>;

struct Head {
  const Sequence &s, &weights;
  Sequence &g;
  double ridge;
  size_t first; // step
  int T, F, V;
  Numbers P, S, z, r, D; // [T+1,F,F], [T+1,V,F], [T,F], [T,V], [T]

  const double *key(const Numbers &x, int t) const { return &x[(first + size_t(t)) * size_t(F)]; }
  double *key(Numbers &x, int t) const { return &x[(first + size_t(t)) * size_t(F)]; }
  const double *value(const Numbers &x, int t) const { return &x[(first + size_t(t)) * size_t(V)]; }

  void forth() {
    const size_t F2 = size_t(F) * size_t(F), VF = size_t(V) * size_t(F);
    P.assign(size_t(T + 1) * F2, 0.0), S.assign(size_t(T + 1) * VF, 0.0);
    z.resize(size_t(T) * size_t(F)), r.resize(size_t(T) * size_t(V)), D.resize(size_t(T));
    for (int i = 0; i < F; ++i) P[size_t(i) * size_t(F + 1)] = 1 / ridge;
    for (int t = 0; t < T; ++t) {
      const double *k = key(s.k, t), *p = &P[size_t(t) * F2], *old = &S[size_t(t) * VF];
      double *zt = &z[size_t(t) * size_t(F)], *next = &P[size_t(t + 1) * F2], *state = &S[size_t(t + 1) * VF];
      for (int i = 0; i < F; ++i) zt[i] = inner(p + i * F, k, F);
      const double d = D[size_t(t)] = 1 + inner(k, zt, F);
      for (int i = 0; i < F; ++i)
        for (int j = 0; j < F; ++j) next[i * F + j] = p[i * F + j] - zt[i] * zt[j] / d;
      for (int i = 0; i < V; ++i) {
        const double residual = r[size_t(t) * size_t(V) + size_t(i)] = value(s.v, t)[i] - inner(old + i * F, k, F);
        for (int j = 0; j < F; ++j) state[i * F + j] = old[i * F + j] + residual * zt[j] / d;
      }
    }
  }

  void back() {
    Numbers dS(size_t(V) * size_t(F)), dP(size_t(F) * size_t(F));
    for (int t = T; t-- > 0;) {
      const double *k = key(s.k, t), *q = key(s.q, t), *zt = &z[size_t(t) * size_t(F)], d = D[size_t(t)];
      const double *p = &P[size_t(t) * size_t(F) * size_t(F)], *old = &S[size_t(t) * size_t(V) * size_t(F)],
                   *now = old + V * F;
      double *dk = key(g.k, t), *dq = key(g.q, t);
      Numbers da(static_cast<size_t>(F)), dz(da), along(da);
      for (int i = 0; i < V; ++i) {
        const double weight = value(weights.v, t)[i];
        double *row = &dS[size_t(i) * size_t(F)];
        add(weight, now + i * F, dq, F), add(weight, q, row, F);
        const double dr = inner(row, zt, F) / d;
        g.v[(first + size_t(t)) * size_t(V) + size_t(i)] = dr;
        add(r[size_t(t) * size_t(V) + size_t(i)], row, da.data(), F);
        add(-dr, old + i * F, dk, F), add(-dr, k, row, F);
      }
      for (int i = 0; i < F; ++i) along[size_t(i)] = inner(&dP[size_t(i) * size_t(F)], zt, F);
      const double dD = (inner(zt, along.data(), F) - inner(zt, da.data(), F)) / (d * d);
      for (int i = 0; i < F; ++i)
        dz[size_t(i)] = (da[size_t(i)] - 2 * along[size_t(i)]) / d + dD * k[i], dk[i] += dD * zt[i];
      for (int i = 0; i < F; ++i) {
        dk[i] += inner(p + i * F, dz.data(), F);
        for (int j = 0; j < F; ++j)
          dP[size_t(i) * size_t(F) + size_t(j)] += (dz[size_t(i)] * k[j] + k[i] * dz[size_t(j)]) / 2;
      }
    }
  }
};

} // namespace

Sequence rls_adjoint(const Sequence &s, const Params &params, const Numbers &weights) {
  Sequence gradient = zeros_like(s), outputs;
  outputs.v = weights;
  each_of(int(s.shape.heads()), [&](int head) {
    Head one{s,
             outputs,
             gradient,
             params.real("ridge"),
             size_t(head) * size_t(s.shape.T),
             s.shape.T,
             s.shape.Dk,
             s.shape.Dv,
             {},
             {},
             {},
             {},
             {}};
    one.forth(), one.back();
  });
  return gradient;
}

} // namespace recollect::train
