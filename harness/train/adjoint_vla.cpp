// SPDX-License-Identifier: Apache-2.0
// The steps of variants/vla.cpp, backwards. With f = phi(k), p = phi(q), c = sum of f, x = f / |f|, u = u_norm w / |w|,
// z = A_{t-1} u, D = 1 + u.z, b = A_t x, a = b / |b|, r = v - S_{t-1} x and o = S_t p / n, n = max(p.c, 1e-4):
//   dS_t += (do / n) p^T,  dn = -do.o / n,  dp = S_t^T do / n + dn c,  dc += dn p
//   dr = dS_t a,  da = dS_t^T r,  dv = dr,  dx = -S_{t-1}^T dr,  dS_{t-1} = dS_t - dr x^T
//   db = (da - (a.da) a) / |b|,  dA_t += db x^T,  dx += A_t db
//   dz = -(dA + dA^T) z / D + dD u,  dD = z^T dA z / D^2,  du = dD z + A_{t-1} dz,  dA_{t-1} = dA_t + dz u^T
//   df = (dx - (x.dx) x) / |f| + dc,  dw = u_norm (du - (w^.du) w^) / |w|
// A is symmetric, and starts as I / lambda0.
#include "harness/train/adjoint.hpp"
#include "harness/train/parallel.hpp"
#include <cmath>

namespace recollect::train {
namespace {

using Numbers = std::vector<double>;

struct Rule {
  bool elu;
  double lambda0, eta, u_norm;
  int refresh;
  double phi(double x) const { return !elu ? x : x > 0 ? x + 1 : std::exp(x); }
  double slope(double x) const { return !elu || x > 0 ? 1 : std::exp(x); }
};

double length(const double *x, int n) { return std::sqrt(inner(x, x, n)); }
/// y = M x, and y += M^T x, of rows of width n.
void times(const double *M, const double *x, double *y, int rows, int n) {
  for (int i = 0; i < rows; ++i) y[i] = inner(M + i * n, x, n);
}
void add_transposed(double factor, const double *M, const double *x, double *y, int rows, int n) {
  for (int i = 0; i < rows; ++i) add(factor * x[i], M + i * n, y, n);
}
void add_outer(double factor, const double *x, const double *y, double *M, int rows, int n) {
  for (int i = 0; i < rows; ++i) add(factor * x[i], y, M + i * n, n);
}
/// The derivative in x of what weighs d on factor x / |x|, given unit = x / |x|; zero where x is.
void through_length(double factor, const double *unit, double size, const double *d, double *into, int n) {
  if (size == 0) return;
  const double along = inner(unit, d, n);
  for (int i = 0; i < n; ++i) into[i] += factor * (d[i] - along * unit[i]) / size;
}

/// What a step leaves for the way back.
struct Step {
  Numbers A, S, c, f, p, x, u, z, a, r;
  double size_f = 0, size_w = 0, size_b = 0, D = 1, n = 1;
  bool clamped = false;
};

class Head {
public:
  Head(const Rule &rule, const Sequence &s, const Sequence &weights, Sequence &gradient, size_t head)
      : rule_(rule), s_(s), weights_(weights), g_(gradient), T_(s.shape.T), F_(s.shape.Dk), V_(s.shape.Dv),
        first_(head * size_t(s.shape.T)) {}

  void forth() {
    Step last;
    last.A.assign(size_t(F_ * F_), 0.0), last.S.assign(size_t(V_ * F_), 0.0), last.c.assign(size_t(F_), 0.0);
    for (int i = 0; i < F_; ++i) last.A[size_t(i * (F_ + 1))] = 1 / rule_.lambda0;
    steps_.push_back(last);
    for (int t = 0, since = 0; t < T_; ++t) {
      since = since + 1 == rule_.refresh ? 0 : since + 1;
      steps_.push_back(step(steps_.back(), t, rule_.refresh > 0 && since == 0 ? rule_.eta : 0));
    }
  }

  void back() {
    Numbers dS(size_t(V_ * F_)), dA(size_t(F_ * F_)), dc(static_cast<size_t>(F_));
    for (int t = T_; t-- > 0;) back(t, dS, dA, dc);
  }

private:
  const double *key(const Numbers &x, int t) const { return &x[(first_ + size_t(t)) * size_t(F_)]; }
  double *key(Numbers &x, int t) const { return &x[(first_ + size_t(t)) * size_t(F_)]; }
  const double *value(const Numbers &x, int t) const { return &x[(first_ + size_t(t)) * size_t(V_)]; }
  double *value(Numbers &x, int t) const { return &x[(first_ + size_t(t)) * size_t(V_)]; }
  const Numbers &penalties() const { return s_.w.empty() ? s_.k : s_.w; }

  Step step(const Step &old, int t, double added) const {
    Step n = old;
    const size_t F = size_t(F_);
    for (Numbers *x : {&n.f, &n.p, &n.x, &n.u, &n.z, &n.a}) x->assign(F, 0.0);
    n.r.resize(size_t(V_));
    const double *k = key(s_.k, t), *q = key(s_.q, t), *w = key(penalties(), t);
    for (size_t j = 0; j < F; ++j) n.f[j] = rule_.phi(k[j]), n.p[j] = rule_.phi(q[j]), n.c[j] += n.f[j];
    n.size_f = length(n.f.data(), F_), n.size_w = length(w, F_);
    const double key_factor = n.size_f > 0 ? 1 / n.size_f : 0, penalty_factor = rule_.u_norm == 0 ? 1
                                                                                : n.size_w > 0 ? rule_.u_norm / n.size_w
                                                                                               : 0;
    for (size_t j = 0; j < F; ++j) n.x[j] = key_factor * n.f[j], n.u[j] = penalty_factor * w[j];
    times(old.A.data(), n.u.data(), n.z.data(), F_, F_);
    n.D = 1 + inner(n.u.data(), n.z.data(), F_);
    add_outer(-1 / n.D, n.z.data(), n.z.data(), n.A.data(), F_, F_);
    for (size_t i = 0; i < F; ++i) n.A[i * (F + 1)] += added;
    times(n.A.data(), n.x.data(), n.a.data(), F_, F_);
    n.size_b = length(n.a.data(), F_);
    for (double &a : n.a) a *= n.size_b > 0 ? 1 / n.size_b : 0;
    times(old.S.data(), n.x.data(), n.r.data(), V_, F_);
    for (int i = 0; i < V_; ++i) n.r[size_t(i)] = value(s_.v, t)[i] - n.r[size_t(i)];
    add_outer(1, n.r.data(), n.a.data(), n.S.data(), V_, F_);
    const double read = inner(n.p.data(), n.c.data(), F_);
    n.clamped = rule_.elu && read < 1e-4;
    n.n = !rule_.elu ? 1 : n.clamped ? 1e-4 : read;
    return n;
  }

  void back(int t, Numbers &dS, Numbers &dA, Numbers &dc) {
    const Step &now = steps_[size_t(t + 1)], &old = steps_[size_t(t)];
    const size_t F = size_t(F_);
    Numbers y(value(weights_.v, t), value(weights_.v, t) + V_), dp(F), dx(F), da(F), db(F), dz(F), du(F), dr(y),
        along(F);
    for (double &x : y) x /= now.n;
    add_transposed(1, now.S.data(), y.data(), dp.data(), V_, F_);
    if (rule_.elu && !now.clamped) {
      const double dn = -inner(dp.data(), now.p.data(), F_) / now.n; // do.o / n = y.S p / n
      add(dn, now.c.data(), dp.data(), F_), add(dn, now.p.data(), dc.data(), F_);
    }
    for (int j = 0; j < F_; ++j) key(g_.q, t)[j] = rule_.slope(key(s_.q, t)[j]) * dp[size_t(j)];
    add_outer(1, y.data(), now.p.data(), dS.data(), V_, F_);

    times(dS.data(), now.a.data(), dr.data(), V_, F_);
    add_transposed(1, dS.data(), now.r.data(), da.data(), V_, F_);
    std::copy(dr.begin(), dr.end(), value(g_.v, t));
    add_transposed(-1, old.S.data(), dr.data(), dx.data(), V_, F_);
    add_outer(-1, dr.data(), now.x.data(), dS.data(), V_, F_);

    through_length(1, now.a.data(), now.size_b, da.data(), db.data(), F_);
    add_outer(1, db.data(), now.x.data(), dA.data(), F_, F_);
    add_transposed(1, now.A.data(), db.data(), dx.data(), F_, F_);

    times(dA.data(), now.z.data(), along.data(), F_, F_);
    const double dD = inner(now.z.data(), along.data(), F_) / (now.D * now.D);
    add_transposed(1, dA.data(), now.z.data(), along.data(), F_, F_);
    for (size_t j = 0; j < F; ++j) dz[j] = -along[j] / now.D + dD * now.u[j], du[j] = dD * now.z[j];
    add_transposed(1, old.A.data(), dz.data(), du.data(), F_, F_);
    add_outer(1, dz.data(), now.u.data(), dA.data(), F_, F_);

    Numbers df = dc;
    through_length(1, now.x.data(), now.size_f, dx.data(), df.data(), F_);
    for (int j = 0; j < F_; ++j) key(g_.k, t)[j] += rule_.slope(key(s_.k, t)[j]) * df[size_t(j)];
    double *dw = key(s_.w.empty() ? g_.k : g_.w, t);
    if (rule_.u_norm == 0) {
      add(1, du.data(), dw, F_);
    } else if (now.size_w > 0) {
      Numbers unit(now.u);
      for (double &x : unit) x /= rule_.u_norm;
      through_length(rule_.u_norm, unit.data(), now.size_w, du.data(), dw, F_);
    }
  }

  const Rule &rule_;
  const Sequence &s_, &weights_;
  Sequence &g_;
  int T_, F_, V_;
  size_t first_;
  std::vector<Step> steps_; // steps_[t + 1] is that of step t
};

} // namespace

Sequence vla_adjoint(const Sequence &s, const Params &params, const std::vector<double> &weights) {
  const Rule rule{params.text("phi") == "elu", params.real("lambda0"), params.real("eta"),
                  params.real_or("u_norm", 1 / std::sqrt(double(s.shape.Dk))), params.integer("refresh")};
  Sequence gradient = zeros_like(s), outputs;
  outputs.v = weights;
  each_of(int(s.shape.heads()), [&](int head) {
    Head one(rule, s, outputs, gradient, size_t(head));
    one.forth(), one.back();
  });
  return gradient;
}

} // namespace recollect::train
