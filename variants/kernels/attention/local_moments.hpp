// SPDX-License-Identifier: Apache-2.0
// A weighted regression at every query (local_linear). A single attention, computed in tiles, accumulates the moments
// of all these regressions.
#pragma once
#include "variants/kernels/attention/gaussian.hpp"
#include "variants/kernels/regression/cholesky.hpp"

namespace recollect::variants {

/// Monomials of degree 1 ... order in Dk variables: y_c, then, for order 2, y_a y_b for a <= b.
struct Basis {
  int order, Dk;
  KOKKOS_FUNCTION int size() const { return Dk + (order == 2 ? Dk * (Dk + 1) / 2 : 0); }

  /// out = the monomials at y = x - origin.
  template <class Real> KOKKOS_FUNCTION void evaluate(const Real *x, const Real *origin, Real *out) const {
    for (int c = 0; c < Dk; ++c) out[c] = x[c] - origin[c];
    for (int a = 0, at = Dk; order == 2 && a < Dk; ++a)
      for (int b = a; b < Dk; ++b, ++at) out[at] = out[a] * out[b];
  }

  /// Converts the weighted means of y_a f, where y_a are the monomials of y and f is any function, to the means of y'_a
  /// f, where y'_a are the monomials of y - z. `constant` is the mean of f. Inputs are `from` numbers apart, and
  /// outputs are `to` numbers apart.
  template <class Real>
  KOKKOS_FUNCTION void move_origin(const Real *z, Real constant, const Real *in, int from, Real *out, int to) const {
    for (int c = 0; c < Dk; ++c) out[c * to] = in[c * from] - z[c] * constant;
    for (int a = 0, at = Dk; order == 2 && a < Dk; ++a)
      for (int b = a; b < Dk; ++b, ++at)
        out[at * to] = in[at * from] - z[a] * in[b * from] - z[b] * in[a * from] + z[a] * z[b] * constant;
  }
};

/// The ridge divided by the sum of the weights, which is exp(peak) mass. The result is finite even if every key is far
/// away.
template <class Real> KOKKOS_FUNCTION Real ridge_of(Real ridge, Real peak, Real mass) {
  return math::fmin(ridge * math::exp(-peak) / mass, Real(1e30));
}

/// out = vbar - M1 xbar, the regression's value at x = 0. M1 are its slopes, from the covariances N = cov(x, x) [n,n]
/// and R = cov(x, v) [n,Dv], which are overwritten. The means of x and v are xbar and vbar. The regression's weights
/// sum to exp(peak) mass.
template <class Real>
KOKKOS_FUNCTION void finish_regression(const Team &team, int n, int Dv, Real ridge, Real peak, Real mass,
                                       const Real *xbar, const Real *vbar, Real *N, Real *R, Real *out) {
  const Real penalty = ridge_of(ridge, peak, mass);
  each(team, n, [=](int a) { N[a * n + a] += penalty; });
  cholesky(team, n, N, n);
  solve_lower(team, n, Dv, N, n, R, Dv);
  team.barrier();
  solve_lower_transposed(team, n, Dv, N, n, R, Dv);
  team.barrier();
  each(team, Dv, [=](int c) {
    Real offset = 0;
    for (int a = 0; a < n; ++a) offset += R[a * Dv + c] * xbar[a];
    out[c] = vbar[c] - offset;
  });
}

/// The row of numbers whose weighted sum over the steps i gives the moments. It consists of y_a, y_a y_b (a <= b), v_c
/// and y_a v_c, where v is the value of step i, and y are the monomials of k_i minus the head's first key.
template <class Real> struct Moments {
  Basis basis;
  int T, Dv, width;
  Array<Real> k, v, out;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    const int n = basis.size();
    Real *y = out.data() + step * width, *row = y + n;
    basis.evaluate<Real>(k.data() + step * basis.Dk, k.data() + step / T * T * basis.Dk, y);
    for (int a = 0; a < n; ++a)
      for (int b = a; b < n; ++b) *row++ = y[a] * y[b];
    for (int a = -1; a < n; ++a)
      for (int c = 0; c < Dv; ++c) *row++ = (a < 0 ? Real(1) : y[a]) * v(step * Dv + c);
  }
};

/// Solves the regression of every query in a block. Moments are accumulated about the head's first key, and shifted to
/// the query before the solution. If a query's neighbours are close together but far from the head's first key, the
/// shift would lose digits by cancellation; such a query computes its moments again from the keys.
template <class Real> struct SolveBlock {
  Basis basis;
  Real bandwidth, ridge;
  int T, Dv;
  Array<Real> q, k, v, o;
  static constexpr int most = 64; // keys read at a time

  /// Takes the scratch of a team: N [n,n], P [n,n], R [n,Dv], P' [n,Dv], ybar [n], xbar [n], vbar [Dv], z [Dk]; X
  /// [most,n], p [most], W [most,n], V [most,Dv].
  void place(Stack<Real> &s) const {
    const size_t n = basis.size();
    s.take((2 * n + 1) * (n + Dv) + n + basis.Dk + most * (2 * n + 1 + Dv));
  }
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Range rows, const Real *sum, std::ptrdiff_t ld,
                                  const Real *peak, const Real *mass, Stack<Real> stack) const {
    Real *work = stack.take(0);
    for (int r = 0; r < rows.size(); ++r) solve(team, head, rows.begin + r, sum + r * ld, peak[r], mass[r], work);
  }

private:
  KOKKOS_FUNCTION void solve(const Team &team, size_t head, int t, const Real *first, Real peak, Real total,
                             Real *work) const {
    const int n = basis.size(), D = Dv, Dk = basis.Dk;
    const size_t step = head * T + t;
    const Basis x = basis;
    const Real *second = first + n, *values = second + n * (n + 1) / 2, *cross = values + D;
    const Real *query = q.data() + step * Dk, *origin = k.data() + head * T * Dk;
    Real *N = work, *P = N + n * n, *R = P + n * n, *Q = R + n * D, *ybar = Q + n * D, *xbar = ybar + n,
         *vbar = xbar + n, *z = vbar + D, *X = z + Dk, *p = X + size_t(most) * n;
    team.barrier();
    each(team, Dk, [=](int c) { z[c] = query[c] - origin[c]; });
    each(team, n, [=](int a) { ybar[a] = first[a] / total; });
    each(team, D, [=](int c) { vbar[c] = values[c] / total; });
    team.barrier();
    each(team, n,
         [=](int a) { // N is symmetric; `second` holds its upper triangle, whose rows have lengths n, n-1, ...
           for (int b = a; b < n; ++b)
             N[a * n + b] = N[b * n + a] = second[a * n - a * (a - 1) / 2 + b - a] / total - ybar[a] * ybar[b];
           for (int c = 0; c < D; ++c) R[a * D + c] = cross[a * D + c] / total - ybar[a] * vbar[c];
         });
    team.barrier();
    Real spread = 0, size = 0, away = 0;
    for (int a = 0; a < Dk; ++a) spread += N[a * n + a], size += N[a * n + a] + ybar[a] * ybar[a], away += z[a] * z[a];
    // A loss of about 4 bits is accepted, in the logits and in the shifted moments. A moment is the mean of a product
    // of two monomials; this product has degree up to 2 for order 1, and up to 4 for order 2.
    const Real limit = x.order == 1 ? 16 : 4;
    if (!(size <= limit * spread && away <= limit * (x.order == 1 ? bandwidth : math::fmin(spread, bandwidth)))) {
      look_again(team, head, t, N, R, xbar, vbar, X, p, &peak, &total);
      finish_regression(team, n, D, ridge, peak, total, xbar, vbar, N, R, o.data() + step * D);
      return;
    }
    each(team, n, [=](int column) { x.move_origin(z, Real(0), N + column, n, P + column, n); });
    each(team, D, [=](int column) { x.move_origin(z, Real(0), R + column, D, Q + column, D); });
    once(team, [=] { x.move_origin(z, Real(1), ybar, 1, xbar, 1); });
    team.barrier();
    each(team, n, [=](int row) { x.move_origin(z, Real(0), P + row * n, 1, N + row * n, 1); });
    team.barrier();
    finish_regression(team, n, D, ridge, peak, total, xbar, vbar, N, Q, o.data() + step * D);
  }

  /// Computes the means and covariances of monomials about query t, and of values, again from the keys. Loops over
  /// blocks of keys, and computes as the definition does.
  KOKKOS_FUNCTION void look_again(const Team &team, size_t head, int t, Real *N, Real *R, Real *xbar, Real *vbar,
                                  Real *X, Real *p, Real *peak, Real *total) const {
    const int n = basis.size(), D = Dv, Dk = basis.Dk;
    const Basis x = basis;
    Real *W = p + most, *V = W + size_t(most) * n; // W: rows of X times the weights of their keys; V: values
    const Real width = bandwidth, *query = q.data() + (head * T + t) * Dk, *keys = k.data() + head * T * Dk,
               *values = v.data() + head * T * D;
    // Fills X and the logits p for a block of keys, then calls f(first key, number of keys).
    const auto each_block = [&](const auto &f) {
      for (int first = 0; first <= t; first += most) {
        const int count = t + 1 - first < most ? t + 1 - first : most;
        team.barrier();
        each(team, count, [=](int i) {
          x.evaluate(keys + size_t(first + i) * Dk, query, X + i * n);
          p[i] = -dot(X + i * n, X + i * n, Dk) / width;
        });
        team.barrier();
        f(first, count);
      }
    };
    Real highest = Kokkos::reduction_identity<Real>::max(), mass = 0;
    each_block([&](int, int count) { highest = math::fmax(highest, largest(team, count, p)); });
    each(team, n + D, [=](int a) { (a < n ? xbar[a] : vbar[a - n]) = 0; });
    each_block([&](int first, int count) {
      mass += exponentiate(team, count, highest, p);
      team.barrier();
      each(team, n + D, [=](int a) {
        Real &mean = a < n ? xbar[a] : vbar[a - n];
        for (int i = 0; i < count; ++i) mean += p[i] * (a < n ? X[i * n + a] : values[size_t(first + i) * D + a - n]);
      });
    });
    const Real all = mass;
    team.barrier();
    each(team, n + D, [=](int a) { (a < n ? xbar[a] : vbar[a - n]) /= all; });
    each(team, n * (n + D), [=](int entry) { (entry < n * n ? N[entry] : R[entry - n * n]) = 0; });
    each_block([&](int first, int count) {
      exponentiate(team, count, highest, p);
      team.barrier();
      each_cell(team, count, n, [=](int i, int a) {
        X[i * n + a] -= xbar[a];
        W[i * n + a] = p[i] / all * X[i * n + a];
      });
      each_cell(team, count, D, [=](int i, int c) { V[i * D + c] = values[size_t(first + i) * D + c] - vbar[c]; });
      team.barrier();
      tile::gemm(team, n, n, count, Real(1), tile::transposed(W, n), tile::rows(X, n), Real(1), N, n);
      tile::gemm(team, n, D, count, Real(1), tile::transposed(W, n), tile::rows(V, D), Real(1), R, D);
    });
    team.barrier();
    *peak = highest, *total = mass;
  }
};

} // namespace recollect::variants
