// SPDX-License-Identifier: Apache-2.0
// Local polynomial regression of degree p = `order` at every query (003 Eq 48-54). Pairs are weighted by a Gaussian
// kernel, and the fit has slopes; softmax attention over unit keys and queries is the same fit without slopes.
//
//   s_i = exp(-|k_i - q_t|^2 / bandwidth),   bandwidth = 2 sqrt(Dk)
//   x_i = d (p = 2: d and all d_a d_b, a <= b) with d = k_i - q_t
//   M0, M1 = argmin sum_{i<=t} s_i |v_i - M0 - M1 x_i|^2 + ridge |M1|^2
//   o_t = M0 = vbar - M1 xbar,   M1 = cov(v, x) (cov(x, x) + ridge / sum s)^{-1},   bars and covariances weighted by s
//
// 003 has no ridge, but without a ridge the equations are singular up to t = Dk. Only the slopes have a ridge, because
// a penalised constant would violate Eq 54. No finite state. Cost of token t for p = 1: t Dk (Dk + 2 Dv) + Dk^3 / 3
// flops. Parallel form: a single attention, computed in tiles, sums the weighted moments about the head's first key; a
// linear map moves their origin to q_t. With n elements in x_i, this takes O(T n (n/2 + Dv)) memory. If the distance of
// a query from the first key is large compared with the spread of the query's neighbours, its moments are computed
// again from all keys.
#include "harness/numerics/element_response.hpp"
#include "variants/kernels/attention/local_moments.hpp"
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/regression/cholesky.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::variants {
namespace {

/// The definition. Scratch of a head, with n elements in x_i: X [T,n] (the x_i), p [T] (weights), N [n,n] (covariance
/// of x), R [n,Dv] (covariance of x and v), xbar [n], vbar [Dv].
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
        xbar[a] = mean; // vbar is stored after xbar
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

template <class Real> Basis basis_of(const Call<Real> &call) { return {call.params.integer("order"), call.shape.Dk}; }

template <class Real> void recurrent(const Call<Real> &call) {
  const Basis basis = basis_of(call);
  using Kernel = StepByStepRegression<Real>;
  each_head("local_linear::recurrent", call, Kernel::work_size(basis.size(), call.shape.T, call.shape.Dv),
            Kernel{basis, bandwidth_param(call), Real(call.params.real("ridge"))});
}

/// Rows [B,H,T,Dk] minus the head's first key. If nothing were subtracted, logits |q|^2 + |k|^2 - 2 q.k would lose
/// digits where all rows are far from the origin.
template <class Real> Array<Real> centred(const Call<Real> &call, const Array<Real> &rows) {
  const Array<Real> out = allocate(call, rows.extent(0)), k = call.k;
  const size_t width = size_t(call.shape.Dk), head = width * call.shape.T;
  parallel_loop(
      "local_linear::centred", rows.extent(0),
      KOKKOS_LAMBDA(const size_t i) { out(i) = rows(i) - k(i / head * head + i % width); });
  return out;
}

template <class Real> void parallel(const Call<Real> &call) {
  const Shape &s = call.shape;
  const Basis basis = basis_of(call);
  const int n = basis.size(), width = n + n * (n + 1) / 2 + (n + 1) * s.Dv;
  const size_t steps = call.steps();
  const Array<Real> moments = allocate(call, steps * width);
  parallel_loop("local_linear::moments", steps, Moments<Real>{basis, s.T, s.Dv, width, call.k, call.v, moments});
  const int chunk = std::min(call.chunk, 32); // a query has many moments, so its block is small
  Call<Real> about_first = call;
  about_first.q = centred(call, call.q), about_first.k = centred(call, call.k);
  attend("local_linear::parallel", call,
         online_softmax(gaussian_by_product<Real, true>(about_first), CausalMask::through_self,
                        rows_of(about_first.q, s, s.Dk), rows_of(about_first.k, s, s.Dk), rows_of(moments, s, width),
                        chunk),
         SolveBlock<Real>{basis, bandwidth_param(call), Real(call.params.real("ridge")), s.T, s.Dv, call.q, call.k,
                          call.v, call.o});
}

/// Let g_i = do_t . v_i. Then do_t . o_t is the constant of the weighted fit of the g_i, and b = M^{-1} cov(x, g) are
/// the slopes of this fit, with M = cov(x, x) + ridge / sum s. Let p_i = s_i / sum s, w = M^{-1} xbar, r_i = g_i - gbar
/// - b . (x_i - xbar) the residuals, and c_i = 1 - w . (x_i - xbar). Then
///
///   dg_i = p_i c_i,   d log s_i = p_i c_i r_i,   dx_i = - p_i (r_i w + c_i b)
///
/// Scratch of a head, with n elements in x_i: X (x_i - xbar) and W (p_i times that) [T,n], D [T,Dk] (gradients with
/// respect to k_i - q_t), p and g [T], N [n,n], R [n,2] (b and w), xbar [n] and gbar.
template <class Real> struct RegressionBack {
  Basis basis;
  Real bandwidth, ridge;
  Array<Real> d_o, d_q, d_k, d_v;

  static size_t work_size(int n, int T, int Dk) { return size_t(T) * (2 * n + Dk + 2) + size_t(n) * (n + 3) + 1; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int n = basis.size(), T = h.T, F = h.Dk, V = h.Dv;
    const Basis x = basis;
    const Real width = bandwidth;
    Real *X = h.work, *W = X + size_t(T) * n, *D = W + size_t(T) * n, *p = D + size_t(T) * F, *g = p + T, *N = g + T,
         *R = N + n * n, *xbar = R + 2 * n, *gbar = xbar + n;
    Real *dq = d_q.data() + h.index * T * F, *dk = d_k.data() + h.index * T * F, *dv = d_v.data() + h.index * T * V;
    each(team, T * F, [=](int i) { dk[i] = 0; });
    each(team, T * V, [=](int i) { dv[i] = 0; });
    for (int t = 0; t < T; ++t) {
      const int seen = t + 1;
      const Real *q = h.q(t), *dO = d_o.data() + (h.index * T + t) * V;
      team.barrier();
      each(team, seen, [=](int i) {
        Real *row = X + size_t(i) * n;
        x.evaluate(h.k(i), q, row);
        p[i] = -dot(row, row, F) / width, g[i] = dot(dO, h.v(i), V);
      });
      team.barrier();
      const Real peak = largest(team, seen, p), mass = exponentiate(team, seen, peak, p);
      team.barrier();
      each(team, seen, [=](int i) { p[i] /= mass; });
      each(team, n, [=](int a) { xbar[a] = 0; });
      team.barrier();
      down_columns(team, seen, n, [=](int i, int a) { xbar[a] += p[i] * X[size_t(i) * n + a]; });
      once(team, [=] { *gbar = dot(p, g, seen); });
      team.barrier();
      each_cell(team, seen, n, [=](int i, int a) {
        const size_t at = size_t(i) * n + a;
        X[at] -= xbar[a];
        W[at] = p[i] * X[at];
      });
      each(team, n, [=](int a) { R[2 * a] = 0, R[2 * a + 1] = xbar[a]; });
      team.barrier();
      tile::gemm(team, n, n, seen, Real(1), tile::transposed<Real>(W, n), tile::rows<Real>(X, n), Real(0), N, n);
      down_columns(team, seen, n, [=](int i, int a) { R[2 * a] += W[size_t(i) * n + a] * (g[i] - *gbar); });
      team.barrier();
      const Real penalty = ridge_of(ridge, peak, mass);
      each(team, n, [=](int a) { N[size_t(a) * n + a] += penalty; });
      cholesky(team, n, N, n);
      solve_lower(team, n, 2, N, n, R, 2);
      team.barrier();
      solve_lower_transposed(team, n, 2, N, n, R, 2);
      team.barrier();
      each(team, seen, [=](int i) {
        const Real *row = X + size_t(i) * n, *k = h.k(i);
        Real c = 1, r = g[i] - *gbar, *d = D + size_t(i) * F;
        for (int a = 0; a < n; ++a) r -= R[2 * a] * row[a], c -= R[2 * a + 1] * row[a];
        const auto dx = [&](int a) { return -p[i] * (r * R[2 * a + 1] + c * R[2 * a]); };
        const Real spread = -2 / width * p[i] * c * r;
        for (int a = 0; a < F; ++a) d[a] = dx(a) + spread * (k[a] - q[a]);
        for (int a = 0, at = F; x.order == 2 && a < F; ++a)
          for (int b = a; b < F; ++b, ++at) {
            d[a] += dx(at) * (k[b] - q[b]);
            d[b] += dx(at) * (k[a] - q[a]);
          }
        for (int a = 0; a < F; ++a) dk[size_t(i) * F + a] += d[a];
        for (int a = 0; a < V; ++a) dv[size_t(i) * V + a] += p[i] * c * dO[a];
      });
      each(team, F, [=](int a) { dq[size_t(t) * F + a] = 0; });
      team.barrier();
      down_columns(team, seen, F, [=](int i, int a) { dq[size_t(t) * F + a] -= D[size_t(i) * F + a]; });
    }
  }
};
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const Basis basis = basis_of(call);
  using Kernel = RegressionBack<Real>;
  each_head(
      "local_linear::backward", call, Kernel::work_size(basis.size(), call.shape.T, call.shape.Dk),
      Kernel{basis, bandwidth_param(call), Real(call.params.real("ridge")), back.d.o, back.d.q, back.d.k, back.d.v});
}

/// The condition number: the response of the outputs o_t = vbar - cov(v, x) M^{-1} xbar to changes of the elements of M
/// and of vbar, divided by the largest |o|; the largest value over heads and steps.
double condition(const Sequence &s, const Params &p) {
  const Shape &shape = s.shape;
  const Basis basis{p.integer("order"), shape.Dk};
  const int n = basis.size(), Dv = shape.Dv;
  const double width = bandwidth_of(p, shape);
  double change = 0, size = 0;
  for (size_t step = 0; step < shape.heads() * shape.T; ++step) {
    const int seen = int(step % shape.T) + 1;
    const size_t first = step + 1 - seen;
    Dense X(seen, n), V(seen, Dv, {s.v.begin() + first * Dv, s.v.begin() + (step + 1) * Dv});
    std::vector<double> weights(seen);
    for (int i = 0; i < seen; ++i) {
      double *row = &X(i, 0);
      basis.evaluate(&s.k[(first + i) * shape.Dk], &s.q[step * shape.Dk], row);
      weights[i] = -inner(row, row, shape.Dk) / width;
    }
    const double peak = *std::max_element(weights.begin(), weights.end());
    double mass = 0;
    for (double &weight : weights) mass += weight = std::exp(weight - peak);
    for (double &weight : weights) weight /= mass;
    const std::vector<double> xbar = times(transpose(X), weights), vbar = times(transpose(V), weights);
    Dense weighted = X;
    for (int i = 0; i < seen; ++i)
      for (int a = 0; a < n; ++a) X(i, a) -= xbar[a], weighted(i, a) = weights[i] * X(i, a);
    const Dense N = transpose(weighted) * X, R = transpose(V) * weighted;
    Dense M = Dense::identity(n + 1), B(Dv, n + 1); // vbar enters o with the weight 1
    std::vector<double> read(n + 1, 1);
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) M(a, b) = N(a, b);
      M(a, a) += ridge_of(p.real("ridge"), peak, mass);
      for (int c = 0; c < Dv; ++c) B(c, a) = -R(c, a);
      read[a] = xbar[a];
    }
    for (int c = 0; c < Dv; ++c) B(c, n) = vbar[c];
    const ElementResponse o = element_response(M, B, read);
    change = std::max(change, o.change), size = std::max(size, o.size);
  }
  return change == 0 ? 0 : change / size;
}

} // namespace

Variant local_linear() {
  Variant v = attention_variant();
  v.update = "$o_t = M0$ of the weighted least-squares fit of $v_i$ by $M0 + M1 (k_i - q_t)$, weights $exp(-|k_i - "
             "q_t|^2 / bandwidth)$";
  v.objective = "$sum_{i<=t} s(k_i, q_t) |M0 + M1 (k_i - q_t) - v_i|^2 + ridge |M1|^2$, solved at each query";
  v.source = "003 Eq 48-54";
  v.cost =
      cost::at_least({cost::t * cost::Dk * (cost::Dk + 2 * cost::Dv) + cost::Dk * cost::Dk * cost::Dk / 3, cost::t});
  v.params = {bandwidth_spec(),
              tuned(real_param("ridge", 0.1, std::numeric_limits<float>::min(), no_limit,
                               "penalty on the slopes, in units of one pair of weight 1"),
                    {1e-3, 0.01}),
              integer_param("order", 1, 1, 2, "degree $p$ of the local polynomial")};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  v.unsuitable = [](const Shape &s, const Params &p) -> std::string {
    const int n = Basis{p.integer("order"), s.Dk}.size();
    return n > 300 ? "it fits " + std::to_string(n) + " slopes per query and value channel; the limit is 300" : "";
  };
  v.solved_condition = condition;
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
