// SPDX-License-Identifier: Apache-2.0
// Delta rules: S_t = g S_{t-1} + b (v - e S_{t-1} k) k^T, o_t = S_t q_t, with (g, b, e) = (1, beta, 1) for delta_net,
// (alpha, beta, alpha) for gated_delta_net and (beta, 1, 1) for scalar_gated_delta. Backwards, with r the residual, y =
// dS_t k and s = S_{t-1} k:
//   dS_t += do q^T,  dq = S_t^T do,  dv = b y,  db = y.r,  de = -b y.s,  dg = <dS_t, S_{t-1}>
//   dk = b dS_t^T r - b e S_{t-1}^T y,  dS_{t-1} = g dS_t - b e y k^T
#include "harness/train/adjoint.hpp"
#include "harness/train/parallel.hpp"

namespace recollect::train {
namespace {

struct Factors {
  double g, b, e;
};

/// factors(index of the step) and pull(index, Factors of derivatives).
template <class Get, class Pull>
Sequence delta(const Sequence &s, const std::vector<double> &weights, const Get &factors, const Pull &pull) {
  const int T = s.shape.T, Dk = s.shape.Dk, Dv = s.shape.Dv, size = Dv * Dk;
  Sequence gradient = zeros_like(s);
  each_of(int(s.shape.heads()), [&](int head) {
    const size_t first = size_t(head) * size_t(T);
    std::vector<double> states(size_t(T + 1) * size_t(size)), residuals(size_t(T) * size_t(Dv)), reads(residuals);
    const auto key = [&](const std::vector<double> &x, int t) { return &x[(first + size_t(t)) * size_t(Dk)]; };
    const auto value = [&](const std::vector<double> &x, int t) { return &x[(first + size_t(t)) * size_t(Dv)]; };
    for (int t = 0; t < T; ++t) {
      const Factors f = factors(first + size_t(t));
      const double *old = &states[size_t(t) * size_t(size)], *k = key(s.k, t);
      double *S = &states[size_t(t + 1) * size_t(size)];
      for (int i = 0; i < Dv; ++i) {
        const double read = inner(old + i * Dk, k, Dk), r = value(s.v, t)[i] - f.e * read;
        reads[size_t(t * Dv + i)] = read, residuals[size_t(t * Dv + i)] = r;
        for (int j = 0; j < Dk; ++j) S[i * Dk + j] = f.g * old[i * Dk + j] + f.b * r * k[j];
      }
    }
    std::vector<double> dS(static_cast<size_t>(size));
    for (int t = T; t-- > 0;) {
      const Factors f = factors(first + size_t(t));
      const double *old = &states[size_t(t) * size_t(size)], *S = old + size, *k = key(s.k, t), *q = key(s.q, t);
      double *dk = &gradient.k[(first + size_t(t)) * size_t(Dk)], *dq = &gradient.q[(first + size_t(t)) * size_t(Dk)];
      Factors d{0, 0, 0};
      for (int i = 0; i < Dv; ++i) {
        double *row = &dS[size_t(i * Dk)];
        const double weight = value(weights, t)[i], r = residuals[size_t(t * Dv + i)];
        add(weight, S + i * Dk, dq, Dk);
        add(weight, q, row, Dk);
        const double y = inner(row, k, Dk);
        gradient.v[(first + size_t(t)) * size_t(Dv) + size_t(i)] = f.b * y;
        d.b += y * r, d.e -= f.b * y * reads[size_t(t * Dv + i)], d.g += inner(row, old + i * Dk, Dk);
        for (int j = 0; j < Dk; ++j) {
          dk[j] += f.b * (r * row[j] - f.e * y * old[i * Dk + j]);
          row[j] = f.g * row[j] - f.b * f.e * y * k[j];
        }
      }
      pull(gradient, first + size_t(t), d);
    }
  });
  return gradient;
}

} // namespace

Sequence delta_net_adjoint(const Sequence &s, const Params &, const std::vector<double> &weights) {
  return delta(
      s, weights,
      [&](size_t t) {
        return Factors{1, s.beta[t], 1};
      },
      [](Sequence &into, size_t t, const Factors &d) { into.beta[t] = d.b; });
}

Sequence gated_delta_net_adjoint(const Sequence &s, const Params &, const std::vector<double> &weights) {
  return delta(
      s, weights,
      [&](size_t t) {
        return Factors{s.alpha[t], s.beta[t], s.alpha[t]};
      },
      [](Sequence &into, size_t t, const Factors &d) { into.beta[t] = d.b, into.alpha[t] = d.g + d.e; });
}

Sequence scalar_gated_delta_adjoint(const Sequence &s, const Params &, const std::vector<double> &weights) {
  return delta(
      s, weights,
      [&](size_t t) {
        return Factors{s.beta[t], 1, 1};
      },
      [](Sequence &into, size_t t, const Factors &d) { into.beta[t] = d.g; });
}

} // namespace recollect::train
