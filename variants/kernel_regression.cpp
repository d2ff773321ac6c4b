// SPDX-License-Identifier: Apache-2.0
// Kernel ridge regression on every prefix (003 Eq 42-43). It is the dual of the layer `intention` for features phi of
// any width, even infinite.
//
//   o_t = V_t^T (kappa(K_t, K_t) + ridge I)^{-1} kappa(K_t, q_t),   kappa(x, y) = exp(scale x . y) or scale x . y
//
// The matrix of the prefix is factorised as L diag(d) L^T. The recurrent form computes one row of L at a time, and the
// chunked form C rows by blocked substitution. Let a = L^{-1} V_t with rows a_i, and y = L^{-1} kappa(K_t, q_t). Then
// o_t = sum_i (y_i / d_i) a_i. No finite state: L is [T,T] per head. Cost at step t: 2 t^2 + t (4 Dk + 4 Dv) flops in
// both forms; the chunked form computes them as matrix products.
#include "harness/device/tile/transposed.hpp"
#include "harness/numerics/element_response.hpp"
#include "variants/kernels/attention/similarity.hpp"
#include "variants/kernels/regression/regression.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> struct Factor {
  Kind kind;
  Real scale, ridge;

  KOKKOS_FUNCTION Real kappa(const Real *x, const Real *y, int n) const {
    return similarity(kind, scale * dot(x, y, n), Real(1));
  }
  /// The derivative of kappa with respect to x . y.
  KOKKOS_FUNCTION Real slope(const Real *x, const Real *y, int n) const {
    return kind == Kind::exp ? scale * kappa(x, y, n) : scale;
  }
};

template <class Real> struct Recurrent {
  Factor<Real> factor;

  static size_t work_size(size_t T, int Dv) { return T * T + T * Dv + 3 * T; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int T = h.T, F = h.Dk, Dv = h.Dv;
    const Factor<Real> factor = this->factor;
    Real *L = h.work;             // [T,T] unit lower
    Real *a = L + size_t(T) * T;  // [T,Dv] L^{-1} V
    Real *X = a + size_t(T) * Dv; // [T,2] L^{-1} kappa(K, k_t) and L^{-1} kappa(K, q_t)
    Real *d = X + size_t(2) * T;  // [T] pivots
    for (int t = 0; t < T; ++t) {
      const Real *k = h.k(t), *q = h.q(t);
      team.barrier();
      each(team, t + 1, [=](int i) {
        X[2 * i] = factor.kappa(h.k(i), k, F);
        X[2 * i + 1] = factor.kappa(h.k(i), q, F);
      });
      team.barrier();
      tile::solve_unit_lower(team, t, 2, L, T, X, 2);
      team.barrier();
      each(team, t, [=](int i) { L[size_t(t) * T + i] = X[2 * i] / d[i]; });
      team.barrier();
      Real pivot = X[2 * t] + factor.ridge, y = X[2 * t + 1];
      for (int i = 0; i < t; ++i) {
        pivot -= L[size_t(t) * T + i] * X[2 * i];
        y -= L[size_t(t) * T + i] * X[2 * i + 1];
      }
      each(team, Dv, [=](int c) {
        Real rest = h.v(t)[c], o = 0;
        for (int i = 0; i < t; ++i) {
          rest -= L[size_t(t) * T + i] * a[size_t(i) * Dv + c];
          o += X[2 * i + 1] / d[i] * a[size_t(i) * Dv + c];
        }
        a[size_t(t) * Dv + c] = rest;
        h.o(t)[c] = o + y / pivot * rest;
      });
      once(team, [=] { d[t] = pivot; });
    }
  }
};

template <class Real> struct Chunked {
  Factor<Real> factor;

  static size_t work_size(size_t T, int C, int Dv) { return T * T + T * 2 * C + 2 * T * Dv + T; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int T = h.T, F = h.Dk, Dv = h.Dv, C = h.chunk;
    const Factor<Real> factor = this->factor;
    Real *L = h.work;                  // [T,T] unit lower
    Real *X = L + size_t(T) * T;       // [T,2n] L^{-1} kappa(K, k) of the chunk's keys, then of its queries
    Real *a = X + size_t(T) * 2 * C;   // [T,Dv] L^{-1} V
    Real *scaled = a + size_t(T) * Dv; // [T,Dv] a_i / d_i
    Real *d = scaled + size_t(T) * Dv; // [T] pivots
    for (int t0 = 0; t0 < T; t0 += C) {
      const int n = T - t0 < C ? T - t0 : C, width = 2 * n;
      const Real *k = h.k(t0), *q = h.q(t0), *v = h.v(t0);
      Real *rows = L + size_t(t0) * T, *own = X + size_t(t0) * width, *a0 = a + size_t(t0) * Dv;
      team.barrier();
      each(team, t0 + n, [=](int i) {
        for (int c = 0; c < n; ++c) {
          X[size_t(i) * width + c] = factor.kappa(h.k(i), k + size_t(c) * F, F);
          X[size_t(i) * width + n + c] = factor.kappa(h.k(i), q + size_t(c) * F, F);
        }
        if (i >= t0) X[size_t(i) * width + i - t0] += factor.ridge;
      });
      for (int b = 0; b < t0; b += C) { // earlier chunks are full
        team.barrier();
        tile::gemm(team, C, width, b, Real(-1), tile::rows(L + size_t(b) * T, T), tile::rows<Real>(X, width), Real(1),
                   X + size_t(b) * width, width);
        team.barrier();
        tile::solve_unit_lower(team, C, width, L + size_t(b) * T + b, T, X + size_t(b) * width, width);
      }
      team.barrier();
      each(team, n, [=](int c) {
        for (int i = 0; i < t0; ++i) rows[size_t(c) * T + i] = X[size_t(i) * width + c] / d[i];
        for (int j = 0; j < Dv; ++j) a0[size_t(c) * Dv + j] = v[size_t(c) * Dv + j];
      });
      team.barrier();
      tile::gemm(team, n, width, t0, Real(-1), tile::rows(rows, T), tile::rows<Real>(X, width), Real(1), own, width);
      tile::gemm(team, n, Dv, t0, Real(-1), tile::rows(rows, T), tile::rows<Real>(a, Dv), Real(1), a0, Dv);
      factorise(team, n, own, width);
      tile::solve_unit_lower(team, n, n, own, width, own + n, width);
      tile::solve_unit_lower(team, n, Dv, own, width, a0, Dv);
      each(team, n, [=](int c) {
        for (int i = 0; i < c; ++i) rows[size_t(c) * T + t0 + i] = own[size_t(c) * width + i];
        d[t0 + c] = own[size_t(c) * width + c];
      });
      team.barrier();
      each(team, n, [=](int c) {
        for (int j = 0; j < Dv; ++j) scaled[size_t(t0 + c) * Dv + j] = a0[size_t(c) * Dv + j] / d[t0 + c];
        for (int later = 0; later < c; ++later) own[size_t(c) * width + n + later] = 0; // a query sees no later key
      });
      team.barrier();
      const tile::Product<Real> read{
          tile::transposed<Real>(X + n, width), tile::rows<Real>(scaled, Dv), t0 + n, {t0 + 1, 1}};
      tile::gemm(team, n, Dv, Real(1), read, {}, Real(0), h.o(t0), Dv);
    }
  }
};

template <class Real> Factor<Real> factor_of(const Call<Real> &call) {
  const Real scale = call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk)));
  return {call.params.text("kernel") == "exp" ? Kind::exp : Kind::linear, scale, Real(call.params.real("ridge"))};
}
template <class Real> void recurrent(const Call<Real> &call) {
  each_head("kernel_regression::recurrent", call, Recurrent<Real>::work_size(call.shape.T, call.shape.Dv),
            Recurrent<Real>{factor_of(call)});
}
template <class Real> void chunked(const Call<Real> &call) {
  each_head("kernel_regression::chunked", call, Chunked<Real>::work_size(call.shape.T, call.chunk, call.shape.Dv),
            Chunked<Real>{factor_of(call)});
}

/// Let M_t be the matrix of the prefix, x_t = M_t^{-1} kappa(K_t, q_t) and y_t = M_t^{-1} V_t do_t. X and Y have x_t
/// and y_t as columns, with zeros from row t + 1 on. The factor of M_t is a leading block of the factor of M_T, so one
/// factorisation serves all t:
///
///   dV = X dO,   d kappa(K, Q) = Y,   dM = - Y X^T
///
/// Scratch of a head: the scratch of the forward pass, then L flipped by tile::flip, X and Y, each [T,T]; dM overwrites
/// L.
template <class Real> struct ChunkedBack {
  Factor<Real> factor;
  Array<Real> d_o, d_q, d_k, d_v;

  static size_t work_size(size_t T, int C, int Dv) { return Chunked<Real>::work_size(T, C, Dv) + 3 * T * T; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int T = h.T, F = h.Dk, V = h.Dv;
    const size_t square = size_t(T) * T, keys = h.index * T * F, values = h.index * T * V;
    const Factor<Real> factor = this->factor;
    Chunked<Real>{factor}(team, h);
    Real *const L = h.work, *const a = L + square + size_t(T) * 2 * h.chunk, *const d = a + size_t(T) * 2 * V,
                *const flipped = d + T, *const X = flipped + square, *const Y = X + square;
    const Real *const dO = d_o.data() + values, *const q = h.q(0), *const k = h.k(0);
    Real *const dq = d_q.data() + keys, *const dk = d_k.data() + keys;
    team.barrier();
    tile::flip(team, T, L, T, flipped, T);
    each_cell(team, T, T,
              [=](int i, int t) { X[size_t(i) * T + t] = factor.kappa(k + size_t(i) * F, q + size_t(t) * F, F); });
    team.barrier();
    tile::solve_unit_lower(team, T, T, L, T, X, T);
    tile::gemm(team, T, T, V, Real(1), tile::rows<Real>(a, V), tile::transposed(dO, V), Real(0), Y, T);
    team.barrier();
    each_cell(team, T, T, [=](int i, int t) {
      const size_t at = size_t(i) * T + t;
      X[at] = i > t ? Real(0) : X[at] / d[i];
      Y[at] = i > t ? Real(0) : Y[at] / d[i];
    });
    team.barrier();
    tile::solve_flipped(team, T, T, flipped, T, X, T);
    tile::solve_flipped(team, T, T, flipped, T, Y, T);
    team.barrier();
    tile::gemm(team, T, V, T, Real(1), tile::rows<Real>(X, T), tile::rows(dO, V), Real(0), d_v.data() + values, V);
    tile::gemm(team, T, T, T, Real(-1), tile::rows<Real>(Y, T), tile::transposed<Real>(X, T), Real(0), L, T);
    team.barrier();
    each_cell(team, T, T, [=](int i, int j) { // gradients with respect to k_i . k_j and k_i . q_j
      const size_t at = size_t(i) * T + j;
      const Real both = L[at] + L[size_t(j) * T + i]; // 0 if the kernel overflows, because its pivot is infinite
      flipped[at] = both == 0 ? Real(0) : both * factor.slope(k + size_t(i) * F, k + size_t(j) * F, F);
      if (i <= j) Y[at] *= factor.slope(k + size_t(i) * F, q + size_t(j) * F, F);
    });
    team.barrier();
    tile::gemm(team, T, F, Real(1), tile::Product<Real>{tile::rows<Real>(flipped, T), tile::rows(k, F), T},
               tile::Product<Real>{tile::rows<Real>(Y, T), tile::rows(q, F), T}, Real(0), dk, F);
    tile::gemm(team, T, F, T, Real(1), tile::transposed<Real>(Y, T), tile::rows(k, F), Real(0), dq, F);
  }
};
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  each_head("kernel_regression::backward", call, ChunkedBack<Real>::work_size(call.shape.T, call.chunk, call.shape.Dv),
            ChunkedBack<Real>{factor_of(call), back.d.o, back.d.q, back.d.k, back.d.v});
}

/// The condition number: the response of the last output to changes of the elements of its kernel matrix. The last
/// output suffices, because every earlier matrix is a principal submatrix of the last matrix.
double condition(const Sequence &s, const Params &p) {
  const Shape &n = s.shape;
  const double scale = p.real_or("scale", 1 / std::sqrt(double(n.Dk)));
  const auto kappa = [&](Dense M) {
    for (double &z : M.data) z = p.text("kernel") == "exp" ? std::exp(scale * z) : scale * z;
    return M;
  };
  double change = 0, size = 0;
  for (size_t head = 0; head < n.heads(); ++head) {
    const auto rows = [&](const std::vector<double> &x, int width) {
      const auto begin = x.begin() + head * n.T * width;
      return Dense(n.T, width, std::vector<double>(begin, begin + size_t(n.T) * width));
    };
    const Dense K = rows(s.k, n.Dk), V = rows(s.v, n.Dv), Q = rows(s.q, n.Dk);
    const Dense last(n.Dk, 1, std::vector<double>(Q.data.end() - n.Dk, Q.data.end()));
    const Dense M = kappa(K * transpose(K)) + p.real("ridge") * Dense::identity(n.T);
    const ElementResponse read = element_response(M, transpose(V), kappa(K * last).data);
    change = std::max(change, read.change), size = std::max(size, read.size);
  }
  return change / size;
}

} // namespace

Variant kernel_regression() {
  Variant v;
  v.family = "exact regression";
  v.update = "every pair is kept; $o_t = V_t^T (kappa(K_t, K_t) + ridge I)^{-1} kappa(K_t, q_t)$";
  v.objective = "$sum_i |S phi(k_i) - v_i|^2 / 2 + ridge |S|^2 / 2$, minimised exactly, $phi . phi = kappa$";
  v.source = "003 Eq 42-43";
  v.cost = cost::at_least({2 * cost::t * cost::t + cost::t * (4 * cost::Dk + 4 * cost::Dv), 2 * cost::t});
  v.params = {tuned(real_param("ridge", 0.1, 1e-12, 1e12, "weight of $|S|^2$"), {1e-3, 0.01, 1}),
              choice_param("kernel", {"exp", "linear"}, "$kappa$: $exp(scale x . y)$ or $scale x . y$"),
              tuned(automatic_param("scale", "1/sqrt(Dk)", 0, 1e6, "factor on $x . y$"), {1, 4, 16})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = true;
  v.layout = "";
  v.state_shape = [](const Shape &, const Params &) { return StateShape{}; };
  v.solved_condition = condition;
  v.unsuitable = [](const Shape &s, const Params &) {
    return s.T > 8192 ? "it keeps a T x T matrix per head, and T > 8192" : "";
  };
  v.traits.linear_memory = false; // the layer keeps a T x T factor, and refuses T > 8192
  return v;
}

} // namespace recollect::variants
