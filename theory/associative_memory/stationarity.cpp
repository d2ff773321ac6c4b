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

std::vector<Dense> states_of(const Output &output) {
  std::vector<Dense> states;
  const size_t size = output.state_shape.size();
  for (size_t first = 0; first < output.state.size(); first += size)
    states.emplace_back(output.state_shape.rows, output.state_shape.columns,
                        std::vector<double>(output.state.begin() + first, output.state.begin() + first + size));
  return states;
}

template <class F> Mean mean_over(const std::vector<Dense> &states, const F &f) {
  std::vector<double> values;
  for (const Dense &S : states) values.push_back(f(S));
  return mean_of(values);
}

/// E|S_t|_F^2 = E|S_t k|^2 = t dk dv for independent Gaussian pairs; the spectral norm doubles as t quadruples; with v
/// = M k + e the norm grows like t |M|. Not at every step of every run: S_2 is smaller than S_1 in some.
std::vector<Point> growth(const Protocol &protocol) {
  std::vector<Point> points;
  const int d = 8, dv = 4, runs = protocol.full() ? 6000 : 3000;
  std::vector<double> spectral;
  Mean last;
  const auto square = [](const Dense &S) { return std::pow(frobenius_norm(S), 2); };
  for (int t : {1, 16, 64, 256}) {
    const std::vector<Dense> states = states_of(
        forward(find_variant("linear"), gaussian_runs(runs, t, d, dv, protocol.seed + t), {"fast", Real::f64, 64, {}}));
    const Mean norm = mean_over(states, square),
               spectrum = mean_over(states, [](const Dense &S) { return spectral_norm(S); });
    points.push_back(at(sampled_point(norm.mean / t, d * dv, norm.standard_error / t, 0.6 * d * dv),
                        t == 256 ? "limit" : "expectation", at_time(t, "mean of |S_t|_F^2 / t")));
    const std::vector<double> probes = Stream(protocol.seed, 203).normals(size_t(runs) * d);
    std::vector<double> reads;
    for (int run = 0; run < runs; ++run) {
      const Dense probe(d, 1,
                        std::vector<double>(probes.begin() + size_t(run) * d, probes.begin() + size_t(run + 1) * d));
      reads.push_back(square(states[run] * probe) / t);
    }
    const Mean read = mean_of(reads);
    points.push_back(at(sampled_point(read.mean, d * dv, read.standard_error, d * dv), "expectation",
                        at_time(t, "mean of |S_t k|^2 / t for a new key")));
    if (t == 256) { // keys and values of t = 64 steps span their spaces up to relative variance 2/64 a direction: that
                    // biases the norm
      const double ratio = spectrum.mean / last.mean,
                   error = ratio * std::hypot(spectrum.standard_error / spectrum.mean, last.standard_error / last.mean);
      points.push_back(at(sampled_point(ratio, 2, error, 0.4, (d + dv) / (2.0 * 64)), "limit",
                          at_time(t, "mean spectral norm over that at t / 4")));
    }
    last = spectrum;
  }
  const std::vector<Dense> first =
      states_of(forward(find_variant("linear"), gaussian_runs(runs, 1, d, dv, protocol.seed)));
  Sequence two = gaussian_runs(runs, 2, d, dv, protocol.seed + 2);
  const Sequence one = gaussian_runs(runs, 1, d, dv, protocol.seed);
  for (int run = 0; run < runs; ++run) { // the same first pairs
    std::copy_n(&one.k[size_t(run) * d], d, &two.k[size_t(run) * 2 * d]);
    std::copy_n(&one.v[size_t(run) * dv], dv, &two.v[size_t(run) * 2 * dv]);
  }
  const std::vector<Dense> second = states_of(forward(find_variant("linear"), two));
  double grown = 0;
  for (int run = 0; run < runs; ++run) grown += spectral_norm(second[run]) > spectral_norm(first[run]);
  points.push_back(at(exact_point(grown / runs, 1, 0, 0), "paper",
                      at_time(2, "share of runs whose spectral norm grew with the second write")));

  const int t = 1000; // v = M k + e: S_t / t = M + O(1/sqrt t); |sum| of t independent terms, each entry within 6.47
                      // sqrt(t) standard deviations
  const Dense M(dv, d, Stream(protocol.seed, 204).normals(dv * d));
  Sequence related = gaussian_runs(1, t, d, dv, protocol.seed + 5);
  const Dense signal = Dense(t, d, related.k) * transpose(M);
  for (size_t i = 0; i < related.v.size(); ++i) related.v[i] += signal.data[i];
  const double spread = std::sqrt(dv * d * (2 * square(M) / (dv) + 1) / t);
  points.push_back(
      at(bounded_point(std::fabs(spectral_norm(Dense(dv, d, forward(find_variant("linear"), related).state)) / t -
                                 spectral_norm(M)),
                       Point::at_most, 0, allowed_standard_errors * spread, 2 * allowed_standard_errors * spread),
         "expectation", at_time(t, "| |S_t| / t - |E v k^T| | for v = M k + e")));
  return points;
}

/// v_t = (-1)^t v at one key: |S_t| is |v||k| or 0 for ever.
std::vector<Point> bounded_for_ever(const Protocol &protocol) {
  const int T = 1000, d = 5, dv = 3;
  const std::vector<double> k = Stream(protocol.seed, 205).normals(d), v = Stream(protocol.seed, 206).normals(dv);
  Sequence s;
  s.shape = {1, 1, T, d, dv};
  for (int t = 0; t < T; ++t) {
    s.k.insert(s.k.end(), k.begin(), k.end());
    for (double x : v) s.v.push_back(t % 2 ? -x : x);
  }
  s.q = s.k; // o_t = S_t k: every S_t is a multiple of v k^T, whose norm is |S k| / |k|
  const std::vector<double> o = forward(find_variant("linear"), s).o;
  double kk = 0, vv = 0, largest = 0;
  for (double x : k) kk += x * x;
  for (double x : v) vv += x * x;
  for (int t = 0; t < T; ++t) {
    double read = 0;
    for (int c = 0; c < dv; ++c) read += o[t * dv + c] * o[t * dv + c];
    largest = std::max(largest, std::sqrt(read / kk));
  }
  const double once = std::sqrt(vv * kk);
  return {at(bounded_point(largest / once, Point::at_least, 2, 0, 0), "paper",
             at_time(T, "largest |S_t| / |S_1|: growth without bound must pass 2")),
          at(exact_point(largest / once, 1, 8.0 * (T + d), 1e-3), "corrected", at_time(T, "largest |S_t| / (|v||k|)"))};
}

} // namespace

std::vector<Claim> stationarity() {
  Claim norm = ledger_row("linear-norm-growth", "000 §2.2.1, footnote 14",
                          "For S_t = S_{t-1} + v k^T the norm of S grows without bound.",
                          "In the mean, E|S_t|_F^2 = E|S_t k|^2 = t dk dv for independent zero-mean pairs, the "
                          "spectral norm like sqrt t; like t |E v k^T| where values depend on keys. "
                          "Not at every step, nor for every sequence (linear_norm_inevitable).",
                          growth);
  norm.expected = Verdict::holds_asymptotically;
  return {
      running(ledger_row("eq49-update-1-over-t", "000 Eq 49, §2.2.2",
                         "|S_t - S_{t-1}| falls like 1/t, so that softmax attention's memory gradually stops updating.",
                         "|S_t - S_{t-1}| = |v phi^T - S_{t-1}| / t exactly, and for zero-mean values the mean of t^2 "
                         "|S_t - S_{t-1}|^2 is (1 + 1/(t-1)) E|v|^2 |phi|^2. S freezes at "
                         "E v phi^T; the contrast between stored items does not see the common 1/t.",
                         vanishing_updates),
              {"gated_linear"}),
      running(norm, {"linear"}),
      running(refuted_row("linear-norm-inevitable", Scope::paper, "000 §2.2.1",
                          "The spectral norm of S inevitably grows for any memory S_t = S_{t-1} + v_t k_t^T.",
                          "With v_t = (-1)^t v at one key it never passes |v||k|. The statement needs an assumption on "
                          "the distribution of the pairs.",
                          bounded_for_ever),
              {"linear"}),
  };
}

} // namespace recollect::theory
