// SPDX-License-Identifier: Apache-2.0
// A two-layer network as memory, M(x) = sum_j a_j act(b_j . x), trained by gradient descent with momentum and decay:
//
//   Z_t = eta_t Z_{t-1} - lr beta_t grad,   M_t = alpha_t M_{t-1} + Z_t
//
// (Behrouz et al. 2024, arXiv:2501.00663, Eq 13-14). Here grad is the gradient of 1/2 |read(k_t) - v_t|^2 with respect
// to M, at M_{t-1}. Row j < width of the state holds hidden unit j: its input weights b_j (Dk) and its output weights
// a_j (Dv). With momentum, the `width` rows of Z follow. Without momentum (eta = 0), Z_t = - lr beta_t grad is not
// stored. The momentum eta_t is eta times the first channel of lambda_t.
//
// Minibatch form: the gradients of n tokens are computed at M' and Z', the state before these tokens. Then M_t is
// linear in M', Z' and the gradients:
//
//   M_t = c_t M' + d_t Z' - sum_{s<=t} w(t,s) lr beta_s grad_s
//
// The numbers c, d and w follow the same recurrence as M and Z. Each gradient is an outer product, so reads are matrix
// products with [n,n] weights. The inputs of the hidden units for q_t are
//
//   B_t q_t = c_t B' q_t + d_t Z' q_t - sum_s w(t,s) (q_t . k_s) lr beta_s dh_s, and likewise for the second layer.
#pragma once
#include "variants/kernels/online/online_memory.hpp"

namespace recollect::variants {

template <class Real> struct Gelu { // x Phi(x)
  KOKKOS_FUNCTION Real value(Real x) const { return x * normal(x); }
  KOKKOS_FUNCTION Real slope(Real x) const { return normal(x) + x * density(x); }
  KOKKOS_FUNCTION Real curvature(Real x) const { return density(x) * (2 - x * x); }
  KOKKOS_FUNCTION Real density(Real x) const { return math::exp(-x * x / 2) * Real(0.3989422804014327); }
  KOKKOS_FUNCTION Real normal(Real x) const { return (1 + math::erf(x * Real(0.7071067811865476))) / 2; }
};
template <class Real> struct Silu {
  KOKKOS_FUNCTION Real value(Real x) const { return math::silu(x); }
  KOKKOS_FUNCTION Real slope(Real x) const {
    const Real s = math::sigmoid(x);
    return s * (1 + x * (1 - s));
  }
  KOKKOS_FUNCTION Real curvature(Real x) const {
    const Real s = math::sigmoid(x);
    return s * (1 - s) * (2 + x * (1 - 2 * s));
  }
};

template <class Real, class Act, class Read> struct MlpMemory {
  int width;
  bool momentum; // Z is part of the state
  Real lr, eta;
  Act act;
  Read head;
  /// eta_t for step t, counted from the step that `lambda` points at.
  KOKKOS_FUNCTION Real kept_momentum(const Real *lambda, int Dk, int t) const {
    return lambda ? eta * lambda[size_t(t) * Dk] : eta;
  }
};

/// The definition. Scratch per head: h, a [width], e [Dv].
template <class Real, class Act, class Read> struct TrainOneByOne {
  MlpMemory<Real, Act, Read> m;

  /// h = B x, a = act(h), y = A^T a.
  KOKKOS_FUNCTION void run(const Team &team, const Head<Real> &head, const Real *x, Real *h, Real *a, Real *y) const {
    const int Dk = head.Dk, Dv = head.Dv, row = Dk + Dv, width = m.width;
    const Act act = m.act;
    const Real *M = head.state;
    team.barrier();
    each(team, width, [=](int j) {
      h[j] = dot(M + j * row, x, Dk);
      a[j] = act.value(h[j]);
    });
    team.barrier();
    each(team, Dv, [=](int c) {
      Real sum = 0;
      for (int j = 0; j < width; ++j) sum += a[j] * M[j * row + Dk + c];
      y[c] = sum;
    });
    team.barrier();
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &head) const {
    const int Dk = head.Dk, Dv = head.Dv, row = Dk + Dv, width = m.width;
    Real *M = head.state, *Z = m.momentum ? M + width * row : nullptr, *h = head.work, *a = h + width, *e = a + width;
    const MlpMemory<Real, Act, Read> memory = m;
    for (int t = 0; t < head.T; ++t) {
      const Real *k = head.k(t), step = m.lr * head.beta[t], keep = head.alpha ? head.alpha[t] : Real(1),
                 eta = m.kept_momentum(head.lambda_, Dk, t);
      run(team, head, k, h, a, e);
      once(team, [&] { memory.head.gradient(Dk, Dv, k, head.v(t), e, e); });
      team.barrier();
      each(team, width, [=](int j) {
        Real *unit = M + j * row;
        const Real slope = dot(e, unit + Dk, Dv) * memory.act.slope(h[j]); // d loss / d h_j
        for (int c = 0; c < row; ++c) {
          const Real gradient = c < Dk ? slope * k[c] : a[j] * e[c - Dk];
          Real change = -step * gradient;
          if (Z) change = Z[j * row + c] = eta * Z[j * row + c] + change;
          unit[c] = keep * unit[c] + change;
        }
      });
      run(team, head, head.q(t), h, a, e);
      once(team, [&] { memory.head.read(Dk, Dv, head.q(t), e, head.o(t)); });
      team.barrier();
    }
  }
};

/// Minibatch form: gradients are computed at the state before each batch of b steps.
template <class Real, class Act, class Read> struct TrainByBatches {
  MlpMemory<Real, Act, Read> m;
  int batch;

  static size_t work_size(int b, int width, int Dk, int Dv) {
    const size_t n = b;
    return width * (2 * Dk + Dv + 5 * n) + n * (2 * n + 3 * Dv + Dk + 4) + 1;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &head) const {
    const std::ptrdiff_t Dk = head.Dk, Dv = head.Dv, row = Dk + Dv, W = m.width,
                         b = batch; // products of these exceed 2^31
    const MlpMemory<Real, Act, Read> memory = m;
    Real *M = head.state, *Z = m.momentum ? M + W * row : nullptr;
    // BT  [Dk,W] B^T          A  [Dv,W] output weights      ZT  [Dk,W] Z's input weights, transposed
    Real *BT = head.work, *A = BT + Dk * W, *ZT = A + Dv * W;
    // h   [n,W] inputs of the hidden units for the keys     hq  [n,W] the same for the queries, then act of these
    // a   [n,W] act(h)        aT  [W,n] a transposed        dh  [n,W] gradients of h, times lr beta
    Real *h = ZT + Dk * W, *a = h + b * W, *dh = a + b * W, *hq = dh + b * W, *aT = hq + b * W;
    // e   [n,Dv] gradients of the outputs, times lr beta    w   [n,n] w(t,s)
    // G   [n,n] w(t,s) times inner products                 kT  [Dk,n] keys, transposed
    // y   [n,Dv] outputs for the queries                    yZ  [n,Dv] reads of Z', times d_t added to y
    Real *e = aT + b * W, *w = e + b * Dv, *G = w + b * b, *kT = G + b * b, *y = kT + b * Dk, *yZ = y + b * Dv;
    // c, d  [n] c_t and d_t   last, lastZ  [n] weights of the gradients in M and Z after the batch
    // momentum  [1] the factor of Z' in Z after the batch
    Real *c = yZ + b * Dv, *d = c + b, *last = d + b, *lastZ = last + b, *momentum = lastZ + b;
    for (int t0 = 0; t0 < head.T; t0 += b) {
      const std::ptrdiff_t n = head.T - t0 < b ? head.T - t0 : b;
      const Real *q = head.q(t0), *k = head.k(t0), *v = head.v(t0), *beta = head.beta + t0,
                 *alpha = head.alpha ? head.alpha + t0 : nullptr, *lambda = head.lambda_ ? head.lambda(t0) : nullptr;
      team.barrier();
      tile::transpose(team, W, Dk, M, row, BT, W);
      tile::transpose(team, W, Dv, M + Dk, row, A, W);
      if (Z) tile::transpose(team, W, Dk, Z, row, ZT, W);
      tile::transpose(team, n, Dk, k, Dk, kT, n);
      each(team, n + 1,
           [=](int s) { // column s of w (or c and d): M and Z at later steps, for a unit gradient at s
             Real weight = 0, impulse = 1, from_state = 1, from_momentum = 0;
             for (int t = 0; t < n; ++t) {
               const Real keep = alpha ? alpha[t] : Real(1), eta = memory.kept_momentum(lambda, Dk, t);
               if (s < n) {
                 if (t > s) impulse *= eta;
                 weight = t < s ? Real(0) : keep * weight + impulse;
                 w[t * n + s] = weight;
               } else {
                 impulse *= eta;
                 c[t] = from_state *= keep;
                 d[t] = from_momentum = keep * from_momentum + impulse;
               }
             }
             if (s < n)
               last[s] = weight, lastZ[s] = impulse;
             else
               *momentum = impulse;
           });
      team.barrier();
      tile::gemm(team, n, W, Dk, Real(1), tile::rows(k, Dk), tile::rows<Real>(BT, W), Real(0), h, W);
      team.barrier();
      each_cell(team, n, W, [=](int t, int j) { a[t * W + j] = memory.act.value(h[t * W + j]); });
      team.barrier();
      tile::gemm(team, n, Dv, W, Real(1), tile::rows(a, W), tile::rows<Real>(M + Dk, row), Real(0), e, Dv);
      tile::transpose(team, n, W, a, W, aT, n);
      team.barrier();
      each(team, n, [=](int t) {
        Real *error = e + t * Dv;
        memory.head.gradient(Dk, Dv, k + t * Dk, v + t * Dv, error, error);
        for (int i = 0; i < Dv; ++i) error[i] *= memory.lr * beta[t];
      });
      team.barrier();
      tile::gemm(team, n, W, Dv, Real(1), tile::rows(e, Dv), tile::rows<Real>(A, W), Real(0), dh, W);
      tile::gemm(team, n, n, Dk, Real(1), tile::rows(q, Dk), tile::rows<Real>(kT, n), Real(0), G, n);
      tile::gemm(team, n, W, Dk, Real(1), tile::rows(q, Dk), tile::rows<Real>(BT, W), Real(0), hq, W);
      team.barrier();
      each_cell(team, n, W, [=](int t, int j) {
        dh[t * W + j] *= memory.act.slope(h[t * W + j]);
        hq[t * W + j] *= c[t];
      });
      each_cell(team, n, n, [=](int t, int s) { G[t * n + s] = s > t ? Real(0) : G[t * n + s] * w[t * n + s]; });
      team.barrier();
      tile::gemm_lower<Real>(team, n, W, Real(-1), G, n, tile::rows<Real>(dh, W), Real(1), hq, W);
      if (Z) {
        tile::gemm(team, n, W, Dk, Real(1), tile::rows(q, Dk), tile::rows<Real>(ZT, W), Real(0), h, W);
        team.barrier();
        each_cell(team, n, W, [=](int t, int j) { hq[t * W + j] += d[t] * h[t * W + j]; });
      }
      team.barrier();
      each_cell(team, n, W, [=](int t, int j) { hq[t * W + j] = memory.act.value(hq[t * W + j]); });
      team.barrier();
      tile::gemm(team, n, n, W, Real(1), tile::rows(hq, W), tile::rows<Real>(aT, n), Real(0), G, n);
      tile::gemm(team, n, Dv, W, Real(1), tile::rows(hq, W), tile::rows<Real>(M + Dk, row), Real(0), y, Dv);
      team.barrier();
      each_cell(team, n, n, [=](int t, int s) { G[t * n + s] = s > t ? Real(0) : G[t * n + s] * w[t * n + s]; });
      each_cell(team, n, Dv, [=](int t, int i) { y[t * Dv + i] *= c[t]; });
      team.barrier();
      tile::gemm_lower<Real>(team, n, Dv, Real(-1), G, n, tile::rows<Real>(e, Dv), Real(1), y, Dv);
      if (Z) {
        tile::gemm(team, n, Dv, W, Real(1), tile::rows(hq, W), tile::rows<Real>(Z + Dk, row), Real(0), yZ, Dv);
        team.barrier();
        each_cell(team, n, Dv, [=](int t, int i) { y[t * Dv + i] += d[t] * yZ[t * Dv + i]; });
      }
      team.barrier();
      each(team, n, [=](int t) { memory.head.read(Dk, Dv, q + t * Dk, y + t * Dv, head.o(t0 + t)); });
      const Real passed = c[n - 1], given = d[n - 1], kept = *momentum;
      each_cell(team, W, row, [=](int j, int i) {
        const std::ptrdiff_t at = j * row + i;
        M[at] = passed * M[at] + (Z ? given * Z[at] : Real(0));
        if (Z) Z[at] *= kept;
      });
      add_gradients(team, n, W, Dk, Dv, last, dh, a, k, e, h, hq, M);
      if (Z) add_gradients(team, n, W, Dk, Dv, lastZ, dh, a, k, e, h, hq, Z);
    }
  }

private:
  /// Subtracts sum_s weights_s grad_s from `to` [W,Dk + Dv], where grad_s is dh_s k_s^T next to a_s e_s^T. dh, a and
  /// the scratch arrays x and y are [n,W].
  KOKKOS_FUNCTION static void add_gradients(const Team &team, std::ptrdiff_t n, std::ptrdiff_t W, std::ptrdiff_t Dk,
                                            std::ptrdiff_t Dv, const Real *weights, const Real *dh, const Real *a,
                                            const Real *k, const Real *e, Real *x, Real *y, Real *to) {
    team.barrier();
    each_cell(team, n, W, [=](int s, int j) {
      x[s * W + j] = weights[s] * dh[s * W + j], y[s * W + j] = weights[s] * a[s * W + j];
    });
    team.barrier();
    tile::gemm(team, W, Dk, n, Real(-1), tile::transposed<Real>(x, W), tile::rows(k, Dk), Real(1), to, Dk + Dv);
    tile::gemm(team, W, Dv, n, Real(-1), tile::transposed<Real>(y, W), tile::rows(e, Dv), Real(1), to + Dk, Dk + Dv);
  }
};

template <class Real, class Act, class Read>
void train_one_by_one(const std::string &label, const Call<Real> &call, const MlpMemory<Real, Act, Read> &m) {
  each_head(label, call, 2 * size_t(m.width) + call.shape.Dv, TrainOneByOne<Real, Act, Read>{m});
}
template <class Real, class Act, class Read>
void train_by_batches(const std::string &label, const Call<Real> &call, const MlpMemory<Real, Act, Read> &m) {
  const int batch = std::min(call.params.integer("minibatch"), call.shape.T);
  using Kernel = TrainByBatches<Real, Act, Read>;
  each_head(label, call, Kernel::work_size(batch, m.width, call.shape.Dk, call.shape.Dv), Kernel{m, batch});
}

/// Number of hidden units. The next function has the descriptor fields that all layers with this memory share.
inline int hidden_width(const Shape &s, const Params &p) { return int(p.real_or("width", 4.0 * s.Dk)); }
inline Variant mlp_variant() {
  Variant v;
  v.family = "online nonlinear";
  v.params = {
      automatic_param("width", "4 Dk", 1, 1 << 20, "hidden units"),
      integer_param("minibatch", 16, 1, 1 << 20, "tokens whose gradients are taken at the same state in `minibatch`"),
      integer_param("seed", 1, 0, 1 << 30, "random seed of the initial state")};
  v.traits.linear_in_v = false;
  return v;
}

} // namespace recollect::variants
