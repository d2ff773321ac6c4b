// SPDX-License-Identifier: Apache-2.0
// Long contexts (000 §2.2.1-2.2.2, Eq 49, 77-79): the softmax normaliser's law of large numbers, updates that shrink
// like 1/t, and the norm of a sum of outer products. Laws over independent Gaussian keys and values, measured on the
// program's own variants.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/integral_points.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

Params at_time(int t, const std::string &quantity) { return labels({{"t", num(t)}, {"quantity", txt(quantity)}}); }

Sequence gaussian_runs(int runs, int T, int d, int dv, std::uint64_t seed) {
  Sequence s;
  s.shape = {runs, 1, T, d, dv};
  s.k = Stream(seed, 201).normals(size_t(runs) * T * d), s.q = s.k;
  s.v = Stream(seed, 202).normals(size_t(runs) * T * dv);
  return s;
}

/// The running mean S_t of v phi^T: t |S_t - S_{t-1}| = |v phi^T - S_{t-1}|, whose square exceeds E|v|^2|phi|^2 by
/// 1/(t-1).
std::vector<Point> vanishing_updates(const Protocol &protocol) {
  std::vector<Point> points;
  const int d = 6, dv = 4, runs = protocol.full() ? 8000 : 4000;
  for (int t : {2, 10, 100}) {
    Sequence s = gaussian_runs(runs, t, d, dv, protocol.seed + t);
    for (int run = 0; run < runs; ++run)
      for (int i = 0; i < t; ++i) s.alpha.push_back(double(i) / (i + 1));
    Sequence before = s;
    before.shape.T = t - 1, before.k.clear(), before.v.clear(), before.alpha.clear();
    for (int run = 0; run < runs; ++run)
      for (int i = 0; i < t; ++i) {
        const size_t step = size_t(run) * t + i;
        for (int c = 0; c < dv; ++c) s.v[step * dv + c] /= i + 1;
        if (i + 1 == t) continue;
        before.k.insert(before.k.end(), &s.k[step * d], &s.k[step * d] + d);
        before.v.insert(before.v.end(), &s.v[step * dv], &s.v[step * dv] + dv);
        before.alpha.push_back(s.alpha[step]);
      }
    before.q = before.k;
    const std::vector<double> now = forward(find_variant("gated_linear"), s).state,
                              old = forward(find_variant("gated_linear"), before).state;
    std::vector<double> updates;
    double worst = 0, largest = 0;
    for (int run = 0; run < runs; ++run) {
      double update = 0, written = 0;
      for (int i = 0; i < dv; ++i)
        for (int j = 0; j < d; ++j) {
          const size_t e = (size_t(run) * dv + i) * d + j, step = size_t(run + 1) * t - 1;
          const double difference = t * (now[e] - old[e]), write = t * s.v[step * dv + i] * s.k[step * d + j] - old[e];
          update += difference * difference, written += write * write;
        }
      updates.push_back(update / (d * dv));
      worst = std::max(worst, std::fabs(update - written)), largest = std::max(largest, written);
    }
    const Mean mean = mean_of(updates);
    points.push_back(at(exact_point(worst, 0, 32.0 * t * (d * dv) * largest, 1e-3 * largest), "exact",
                        at_time(t, "t^2 |S_t - S_{t-1}|^2 - |v phi^T - S_{t-1}|^2")));
    points.push_back(at(sampled_point(mean.mean, 1 + 1.0 / (t - 1), mean.standard_error, 0.5), "expectation",
                        at_time(t, "mean of t^2 |S_t - S_{t-1}|^2 / E|v|^2|phi|^2")));
  }
  return points;
}

} // namespace

std::vector<Claim> stationarity() {
  return {
      running(ledger_row("eq49-update-1-over-t", "000 Eq 49, §2.2.2",
                         "|S_t - S_{t-1}| falls like 1/t, so that softmax attention's memory gradually stops updating.",
                         "|S_t - S_{t-1}| = |v phi^T - S_{t-1}| / t exactly, and for zero-mean values the mean of t^2 "
                         "|S_t - S_{t-1}|^2 is (1 + 1/(t-1)) E|v|^2 |phi|^2. S freezes at "
                         "E v phi^T; the contrast between stored items does not see the common 1/t.",
                         vanishing_updates),
              {"gated_linear"}),
  };
}

} // namespace recollect::theory
