// SPDX-License-Identifier: Apache-2.0
// Local polynomial regression at every query: softmax attention's neighbours, with a slope (003 Eq 48-54, p = `order`).
//
//   s_i = exp(-|k_i - q_t|^2 / bandwidth),   bandwidth = 2 sqrt(Dk)
//   x_i = d (p = 2: d and all d_a d_b, a <= b) with d = k_i - q_t
//   M0, M1 = argmin sum_{i<=t} s_i |v_i - M0 - M1 x_i|^2 + ridge |M1|^2
//   o_t = M0 = vbar - M1 xbar,   M1 = cov(v, x) (cov(x, x) + ridge / sum s)^{-1},   bars and covariances weighted by s
//
// The ridge is on the slopes alone (003 has none): up to t = Dk the equations are singular without it, and a penalised
// constant would bend Eq 54. State: none that is finite. Cost of token t: t n (n + 2 Dv) + n^3 / 3 flops, n = Dk slopes
// a value (p = 1). Parallel form: the weighted moments of x and x v^T are one tiled attention with those products as
// values, taken about the first key; moving their origin to q_t is a linear map. O(T n (n/2 + Dv)) memory.
#include "variants/kernels/gaussian.hpp"

namespace recollect::variants {
namespace {

/// Monomials of degree 1 ... order in Dk variables: y_c, then y_a y_b for a <= b.
struct Basis {
  int order, Dk;
  KOKKOS_FUNCTION int size() const { return Dk + (order == 2 ? Dk * (Dk + 1) / 2 : 0); }

  /// out = the monomials at y = x - origin.
  template <class Real> KOKKOS_FUNCTION void evaluate(const Real *x, const Real *origin, Real *out) const {
    for (int c = 0; c < Dk; ++c) out[c] = x[c] - origin[c];
    for (int a = 0, at = Dk; order == 2 && a < Dk; ++a)
      for (int b = a; b < Dk; ++b, ++at) out[at] = out[a] * out[b];
  }

  /// A moment of each monomial at y - z from those at y: out[a * to] from in[b * from] and `constant`, the same moment
  /// of 1.
  template <class Real>
  KOKKOS_FUNCTION void move_origin(const Real *z, Real constant, const Real *in, int from, Real *out, int to) const {
    for (int c = 0; c < Dk; ++c) out[c * to] = in[c * from] - z[c] * constant;
    for (int a = 0, at = Dk; order == 2 && a < Dk; ++a)
      for (int b = a; b < Dk; ++b, ++at)
        out[at * to] = in[at * from] - z[a] * in[b * from] - z[b] * in[a * from] + z[a] * z[b] * constant;
  }
};

/// out = vbar - M1 xbar from the covariances N = cov(x, x) [n,n] and R = cov(x, v) [n,Dv], both overwritten. The
/// weights behind them sum to exp(peak) mass; the ridge in their units is kept finite where every key is far away.
template <class Real>
KOKKOS_FUNCTION void finish_regression(const Team &team, int n, int Dv, Real ridge, Real peak, Real mass,
                                       const Real *xbar, const Real *vbar, Real *N, Real *R, Real *out) {
  const Real penalty = math::fmin(ridge * math::exp(-peak) / mass, Real(1e30));
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

/// The definition. Work of a head: X [T,n], p [T], N [n,n], R [n,Dv], xbar [n], vbar [Dv].
template <class Real> struct StepByStepRegression {
  Basis basis;
  Real bandwidth, ridge;

  KOKKOS_FUNCTION static size_t work_size(int n, int T, int Dv) {
    return size_t(T) * (n + 1) + size_t(n + 1) * (n + Dv);
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int n = basis.size(), Dv = h.Dv;
    const Basis x = basis;
    const Real width = bandwidth;
    Real *X = h.work, *p = X + size_t(h.T) * n, *N = p + h.T, *R = N + n * n, *xbar = R + n * Dv, *vbar = xbar + n;
    for (int t = 0; t < h.T; ++t) {
      const int seen = t + 1;
      each(team, seen, [=](int i) {
        Real *row = X + size_t(i) * n;
        x.evaluate(h.k(i), h.q(t), row);
        p[i] = -dot(row, row, x.Dk) / width;
      });
      team.barrier();
      const Real peak = largest(team, seen, p), mass = exponentiate(team, seen, peak, p);
      team.barrier();
      each(team, seen, [=](int i) { p[i] /= mass; });
      team.barrier();
      each(team, n + Dv, [=](int a) {
        Real mean = 0;
        for (int i = 0; i < seen; ++i) mean += p[i] * (a < n ? X[size_t(i) * n + a] : h.v(i)[a - n]);
        xbar[a] = mean; // vbar follows xbar
      });
      team.barrier();
      each(team, n * (n + Dv), [=](int entry) {
        const int a = entry / (n + Dv), b = entry % (n + Dv);
        Real sum = 0;
        for (int i = 0; i < seen; ++i) {
          const Real other = b < n ? X[size_t(i) * n + b] : h.v(i)[b - n];
          sum += p[i] * (X[size_t(i) * n + a] - xbar[a]) * (other - xbar[b]);
        }
        (b < n ? N[a * n + b] : R[a * Dv + b - n]) = sum;
      });
      team.barrier();
      finish_regression(team, n, Dv, ridge, peak, mass, xbar, vbar, N, R, h.o(t));
      team.barrier();
    }
  }
};

/// Value row of step i, with y the monomials of k_i about the head's first key: y_a, y_a y_b (a <= b), v_c, y_a v_c.
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

/// After a block of queries has gathered its moments: about each query, then its regression.
template <class Real> struct SolveBlock {
  Basis basis;
  Real ridge;
  int T, Dv;
  Array<Real> q, k, o;

  /// N [n,n], P [n,n], R [n,Dv], P' [n,Dv], ybar [n], xbar [n], vbar [Dv], z [Dk].
  void place(Stack<Real> &s) const {
    const size_t n = basis.size();
    s.take((2 * n + 1) * (n + Dv) + n + basis.Dk);
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
         *vbar = xbar + n, *z = vbar + D;
    team.barrier();
    each(team, Dk, [=](int c) { z[c] = query[c] - origin[c]; });
    each(team, n, [=](int a) { ybar[a] = first[a] / total; });
    each(team, D, [=](int c) { vbar[c] = values[c] / total; });
    team.barrier();
    each(team, n,
         [=](int a) { // both triangles from the packed upper one, whose row a starts after rows of length n, n-1, ...
           for (int b = a; b < n; ++b)
             N[a * n + b] = N[b * n + a] = second[a * n - a * (a - 1) / 2 + b - a] / total - ybar[a] * ybar[b];
           for (int c = 0; c < D; ++c) R[a * D + c] = cross[a * D + c] / total - ybar[a] * vbar[c];
         });
    team.barrier();
    each(team, n, [=](int column) { x.move_origin(z, Real(0), N + column, n, P + column, n); });
    each(team, D, [=](int column) { x.move_origin(z, Real(0), R + column, D, Q + column, D); });
    once(team, [=] { x.move_origin(z, Real(1), ybar, 1, xbar, 1); });
    team.barrier();
    each(team, n, [=](int row) { x.move_origin(z, Real(0), P + row * n, 1, N + row * n, 1); });
    team.barrier();
    finish_regression(team, n, D, ridge, peak, total, xbar, vbar, N, Q, o.data() + step * D);
  }
};

template <class Real> Basis basis_of(const Call<Real> &call) { return {call.params.integer("order"), call.shape.Dk}; }

template <class Real> void recurrent(const Call<Real> &call) {
  const Basis basis = basis_of(call);
  using Kernel = StepByStepRegression<Real>;
  each_head("local_linear::recurrent", call, Kernel::work_size(basis.size(), call.shape.T, call.shape.Dv),
            Kernel{basis, bandwidth_param(call), Real(call.params.real("ridge"))});
}

template <class Real> void parallel(const Call<Real> &call) {
  const Shape &s = call.shape;
  const Basis basis = basis_of(call);
  const int n = basis.size(), width = n + n * (n + 1) / 2 + (n + 1) * s.Dv;
  const size_t steps = call.steps();
  const Array<Real> moments = allocate(call, steps * width);
  Kokkos::parallel_for("local_linear::moments", Kokkos::RangePolicy<Execution>(0, steps),
                       Moments<Real>{basis, s.T, s.Dv, width, call.k, call.v, moments});
  const int chunk = std::min(call.chunk, 32); // a query's result is wide: small blocks
  attend("local_linear::parallel", call,
         key_loop(gaussian_by_product<Real, true>(call), Sees::through_self, rows_of(call.q, s, s.Dk),
                  rows_of(call.k, s, s.Dk), rows_of(moments, s, width), chunk),
         SolveBlock<Real>{basis, Real(call.params.real("ridge")), s.T, s.Dv, call.q, call.k, call.o});
}

} // namespace

Variant local_linear() {
  Variant v = attention_variant();
  v.update = "o_t = M0 of the weighted least-squares fit of v_i by M0 + M1 (k_i - q_t), weights exp(-|k_i - q_t|^2 / "
             "bandwidth)";
  v.objective = "sum_{i<=t} s(k_i, q_t) |M0 + M1 (k_i - q_t) - v_i|^2 + ridge |M1|^2, solved at each query";
  v.source = "003 Eq 48-54";
  v.cost = "t n (n + 2 Dv) + n^3 / 3 flops, n = Dk";
  v.params = {bandwidth_spec(),
              real_param("ridge", 0.1, std::numeric_limits<float>::min(), no_limit,
                         "penalty on the slopes, in units of one full-weight pair"),
              integer_param("order", 1, 1, 2, "degree p of the local polynomial")};
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>}, {"parallel", parallel<float>, parallel<double>}};
  v.unsuitable = [](const Shape &s, const Params &p) -> std::string {
    const int n = Basis{p.integer("order"), s.Dk}.size();
    return n > 300 ? "its " + std::to_string(n) + " slopes a query and value are more than 300" : "";
  };
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
