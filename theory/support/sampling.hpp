// SPDX-License-Identifier: Apache-2.0
// The number of samples of a point: enough for the sensitivity that its suite promises, and more if samples are cheap.
#pragma once
#include "harness/device/side_by_side.hpp"
#include "harness/numerics/verdict.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
/// The relative error that a sampled point must detect (sensitivity() of verdict.hpp), unless its rivals require less.
/// If samples are cheap, the quick suite detects a relative error of `fine` as well (sample_mean).
inline double wanted_sensitivity(const Protocol &protocol) { return protocol.full() ? 0.01 : 0.04; }

/// The same, but smaller if the prediction of a rival is near `predicted`. A rival must be at least 13 standard errors
/// from the right prediction: then a point confuses the two at most once in 10^10 runs.
inline double wanted_sensitivity(const Protocol &protocol, double predicted, const std::vector<double> &rivals) {
  double wanted = wanted_sensitivity(protocol);
  for (double rival : rivals) {
    const double standard_error = std::fabs(rival / predicted - 1) / 13;
    wanted =
        std::min(wanted, sensitivity(sampled_point({predicted, standard_error * std::fabs(predicted)}, predicted)));
  }
  return wanted;
}

/// The number of pilot samples, which estimate the standard deviation. The full suite takes four times as many, so that
/// it detects smaller errors than the quick suite.
inline size_t pilot_size(const Protocol &protocol, size_t quick = 400) { return protocol.full() ? 4 * quick : quick; }

/// The number of samples in a block, where each sample has `numbers` numbers; the arrays of a block fit into the cache.
inline size_t cached_block(size_t numbers) { return std::max<size_t>(1, (size_t(1) << 15) / numbers); }

/// Calls draw(first, count) in blocks, so that the arrays of many samples are never in memory at once.
template <class Draw> struct Blocks {
  size_t block;
  Draw draw;
  bool in_order; // one call after another, for a draw() that also keeps other results

  std::vector<double> operator()(size_t first, size_t count) const {
    std::vector<std::vector<double>> parts((count + block - 1) / block);
    const auto fill = [&](size_t i) { parts[i] = draw(first + i * block, std::min(block, count - i * block)); };
    for (size_t i = 0; i < parts.size() && in_order; ++i) fill(i);
    if (!in_order) side_by_side(parts.size(), fill);
    std::vector<double> samples;
    samples.reserve(count);
    for (const std::vector<double> &part : parts) samples.insert(samples.end(), part.begin(), part.end());
    return samples;
  }
};
template <class Draw> Blocks(size_t, Draw, bool) -> Blocks<Draw>;
/// Calls draw(first, count) in blocks, several at the same time.
template <class Draw> auto in_blocks(size_t block, Draw draw) { return Blocks{block, draw, false}; }

/// A relative error that suffices for a wrong system, because its values differ from the law by much more.
constexpr double rough = 0.1;
/// The relative error that a point detects if its samples are cheap.
constexpr double fine = 0.01;
/// The number of samples that count as cheap. It depends on the block and not on a time, so that every machine draws
/// the same samples.
template <class Draw> size_t cheap_samples(const Blocks<Draw> &draw) { return 192 * draw.block; }
template <class Draw> size_t cheap_samples(const Draw &) { return 0; }

/// The mean of draw(first, count), which returns the samples first ... first + count - 1 of one stream. A pilot
/// estimates the standard deviation and from it the number of samples. If that number was too small, it is doubled
/// until the mean detects a relative error of `wanted`, or `most` samples are drawn. Unless `wanted` is at least
/// `rough`, sampling continues up to the number of cheap samples until the mean detects `fine`.
template <class Draw> Mean sample_mean(double wanted, size_t pilot, size_t most, const Draw &draw) {
  const double better = wanted < rough ? std::min(wanted, fine) : wanted;
  const size_t cheap = std::min(most, cheap_samples(draw));
  std::vector<double> samples = draw(size_t(0), pilot);
  for (;;) {
    const Mean mean = mean_of(samples);
    const double seen = sensitivity(sampled_point(mean, mean.mean)), drawn = double(samples.size());
    const auto needed = [&](double error, size_t limit) {
      return seen > error ? std::min(double(limit), 1.2 * drawn * std::pow(seen / error, 2)) : 0;
    };
    const double next = std::min(std::max(needed(wanted, most), needed(better, cheap)), 64 * drawn);
    if (next <= drawn) return mean;
    const std::vector<double> more = draw(samples.size(), std::max<size_t>(1, size_t(next) - samples.size()));
    samples.insert(samples.end(), more.begin(), more.end());
  }
}
} // namespace recollect::theory
