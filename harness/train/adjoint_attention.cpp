// SPDX-License-Identifier: Apache-2.0
// Layers that weigh pairs: o_t = sum_{i<=t} r_ti v_i / Z_t, with Z_t = sum_i r_ti or 1. For a loss with do:
//   dv_i = sum_t r_ti do_t / Z_t,   dr_ti = do_t . (v_i - o_t) / Z_t   (without the o_t where Z = 1)
#include "harness/train/adjoint.hpp"
#include "harness/train/parallel.hpp"
#include <cmath>

namespace recollect::train {
namespace {

/// One head's rows.
struct Rows {
  const double *q, *k, *v, *d_o;
  double *dq, *dk, *dv;
};

/// weigh(rows, t, r) fills r_t0 ... r_tt; pull(rows, t, i, r_ti, dr_ti) adds to dq_t and dk_i.
template <class Weigh, class Pull>
Sequence pairwise(const Sequence &s, const std::vector<double> &weights, bool normalised, const Weigh &weigh,
                  const Pull &pull) {
  const int T = s.shape.T, Dk = s.shape.Dk, Dv = s.shape.Dv;
  Sequence g = zeros_like(s);
  each_of(int(s.shape.heads()), [&](int head) {
    const size_t keys = size_t(head) * size_t(T) * size_t(Dk), values = size_t(head) * size_t(T) * size_t(Dv);
    const Rows x{&s.q[keys], &s.k[keys], &s.v[values], &weights[values], &g.q[keys], &g.k[keys], &g.v[values]};
    std::vector<double> r(static_cast<size_t>(T)), dr(r);
    for (int t = 0; t < T; ++t) {
      const double *d_o = x.d_o + t * Dv;
      weigh(x, t, r.data());
      double Z = 1, mean = 0; // mean: do_t . o_t
      if (normalised) {
        Z = 0;
        for (int i = 0; i <= t; ++i) Z += r[size_t(i)];
      }
      for (int i = 0; i <= t; ++i) {
        const double share = r[size_t(i)] / Z;
        dr[size_t(i)] = inner(d_o, x.v + i * Dv, Dv);
        mean += share * dr[size_t(i)];
        add(share, d_o, x.dv + i * Dv, Dv);
      }
      if (!normalised) mean = 0;
      for (int i = 0; i <= t; ++i) pull(x, t, i, r[size_t(i)], (dr[size_t(i)] - mean) / Z);
    }
  });
  return g;
}

double elu1(double x) { return x > 0 ? x + 1 : std::exp(x); }
double elu1_slope(double x) { return x > 0 ? 1 : std::exp(x); }

} // namespace

Sequence attention_adjoint(const Sequence &s, const Params &params, const std::vector<double> &weights) {
  const int D = s.shape.Dk;
  const double scale = params.real_or("scale", 1 / std::sqrt(double(D)));
  return pairwise(
      s, weights, true,
      [=](const Rows &x, int t, double *r) {
        double largest = -HUGE_VAL;
        for (int i = 0; i <= t; ++i)
          r[i] = scale * inner(x.q + t * D, x.k + i * D, D), largest = std::max(largest, r[i]);
        for (int i = 0; i <= t; ++i) r[i] = std::exp(r[i] - largest);
      },
      [=](const Rows &x, int t, int i, double r, double dr) {
        add(scale * r * dr, x.k + i * D, x.dq + t * D, D);
        add(scale * r * dr, x.q + t * D, x.dk + i * D, D);
      });
}

Sequence linear_adjoint(const Sequence &s, const Params &params, const std::vector<double> &weights) {
  const int D = s.shape.Dk;
  const double scale = params.real("scale");
  return pairwise(
      s, weights, false,
      [=](const Rows &x, int t, double *r) {
        for (int i = 0; i <= t; ++i) r[i] = scale * inner(x.q + t * D, x.k + i * D, D);
      },
      [=](const Rows &x, int t, int i, double, double dr) {
        add(scale * dr, x.k + i * D, x.dq + t * D, D);
        add(scale * dr, x.q + t * D, x.dk + i * D, D);
      });
}

Sequence linear_elu_adjoint(const Sequence &s, const Params &, const std::vector<double> &weights) {
  const int D = s.shape.Dk;
  Sequence mapped = s;
  for (double &x : mapped.q) x = elu1(x);
  for (double &x : mapped.k) x = elu1(x);
  Sequence g = pairwise(
      mapped, weights, true,
      [=](const Rows &x, int t, double *r) {
        for (int i = 0; i <= t; ++i) r[i] = inner(x.q + t * D, x.k + i * D, D);
      },
      [=](const Rows &x, int t, int i, double, double dr) {
        add(dr, x.k + i * D, x.dq + t * D, D);
        add(dr, x.q + t * D, x.dk + i * D, D);
      });
  for (size_t i = 0; i < g.q.size(); ++i) g.q[i] *= elu1_slope(s.q[i]), g.k[i] *= elu1_slope(s.k[i]);
  return g;
}

} // namespace recollect::train
