// SPDX-License-Identifier: Apache-2.0
// DeltaFormer backwards: u_t = alpha_t v_t - beta_t sum_{i<t} a_ti u_i, o_t = sum_{i<=t} b_ti u_i, with a and b similarities
// of k_i with w_t and q_t. For a loss with do, the last step first, when du_t is whole:
//   du_i += b_ti do_t,   db_ti = do_t . u_i,   dv_t = alpha_t du_t,   dalpha_t = v_t . du_t
//   du_i -= beta_t a_ti du_t,   da_ti = -beta_t du_t . u_i,   dbeta_t = -sum_i a_ti u_i . du_t
#include "harness/core/registry.hpp"
#include "harness/pipeline/gradient.hpp"
#include "harness/train/adjoint.hpp"
#include "harness/train/parallel.hpp"
#include "variants/kernels/similarity.hpp"

namespace recollect::train {
namespace {

using variants::Kind;
using Numbers = std::vector<double>;

/// The similarities of one row x with the keys 0 ... n - 1, and back.
struct Weighing {
  Kind kind;
  double scale, tau;
  int D;

  Numbers forth(const double *keys, int n, const double *x) const {
    Numbers a(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) a[size_t(i)] = variants::similarity(kind, scale * inner(keys + i * D, x, D), tau);
    if (kind != Kind::softmax || n == 0) return a;
    const double largest = *std::max_element(a.begin(), a.end());
    double sum = 0;
    for (double &r : a) sum += r = std::exp(r - largest);
    for (double &r : a) r /= sum;
    return a;
  }

  /// Adds to dkeys and dx what da asks for.
  void back(const double *keys, const double *x, const Numbers &a, const Numbers &da, double *dkeys, double *dx) const {
    const double mean = kind == Kind::softmax ? inner(a.data(), da.data(), int(a.size())) : 0;
    for (int i = 0; i < int(a.size()); ++i) {
      const double slope = scale * slope_of(a[size_t(i)]) * (da[size_t(i)] - mean);
      add(slope, keys + i * D, dx, D), add(slope, x, dkeys + i * D, D);
    }
  }

private:
  double slope_of(double a) const {
    switch (kind) {
    case Kind::exp:
    case Kind::softmax:
      return a / tau;
    case Kind::relu:
      return a > 0 ? 1 : 0;
    case Kind::linear:
    case Kind::round:
      return 1;
    }
    return 1;
  }
};

Weighing weighing(const Params &params, const std::string &name, int D) {
  const auto kernel = variants::kernel_param<double>(params, name);
  return {kernel.kind, kernel.scale, kernel.tau, D};
}

} // namespace

Sequence delta_former_adjoint(const Sequence &s, const Params &params, const Numbers &weights) {
  if (params.integer("groups") > 1) return gradient(find_variant("delta_former"), s, params, {weights, {}});
  const int T = s.shape.T, K = s.shape.Dk, V = s.shape.Dv;
  const Weighing erase = weighing(params, "kappa1", K), read = weighing(params, "kappa2", K);
  Sequence g = zeros_like(s);
  each_of(int(s.shape.heads()), [&](int head) {
    const size_t first = size_t(head) * size_t(T), key = first * size_t(K), value = first * size_t(V);
    const Numbers &w = s.w.empty() ? s.k : s.w;
    Numbers &dw = s.w.empty() ? g.k : g.w;
    const auto factor = [&](const Numbers &x, int t) { return x.empty() ? 1 : x[first + size_t(t)]; };
    Numbers u(size_t(T) * size_t(V)), du(u);
    std::vector<Numbers> erased;
    for (int t = 0; t < T; ++t) {
      erased.push_back(erase.forth(&s.k[key], t, &w[key + size_t(t) * size_t(K)]));
      double *now = &u[size_t(t) * size_t(V)];
      add(factor(s.alpha, t), &s.v[value + size_t(t) * size_t(V)], now, V);
      for (int i = 0; i < t; ++i) add(-factor(s.beta, t) * erased.back()[size_t(i)], &u[size_t(i) * size_t(V)], now, V);
    }
    for (int t = T; t-- > 0;) {
      const double *d_o = &weights[value + size_t(t) * size_t(V)], *q = &s.q[key + size_t(t) * size_t(K)];
      const Numbers b = read.forth(&s.k[key], t + 1, q), &a = erased[size_t(t)];
      Numbers db(b.size()), da(a.size());
      for (int i = 0; i <= t; ++i) {
        add(b[size_t(i)], d_o, &du[size_t(i) * size_t(V)], V);
        db[size_t(i)] = inner(d_o, &u[size_t(i) * size_t(V)], V);
      }
      read.back(&s.k[key], q, b, db, &g.k[key], &g.q[key + size_t(t) * size_t(K)]);
      const double *d = &du[size_t(t) * size_t(V)], beta = factor(s.beta, t);
      add(factor(s.alpha, t), d, &g.v[value + size_t(t) * size_t(V)], V);
      if (!s.alpha.empty()) g.alpha[first + size_t(t)] = inner(d, &s.v[value + size_t(t) * size_t(V)], V);
      for (int i = 0; i < t; ++i) {
        const double along = inner(d, &u[size_t(i) * size_t(V)], V);
        da[size_t(i)] = -beta * along;
        if (!s.beta.empty()) g.beta[first + size_t(t)] -= a[size_t(i)] * along;
        add(-beta * a[size_t(i)], d, &du[size_t(i) * size_t(V)], V);
      }
      erase.back(&s.k[key], &w[key + size_t(t) * size_t(K)], a, da, &g.k[key], &dw[key + size_t(t) * size_t(K)]);
    }
  });
  return g;
}

} // namespace recollect::train
