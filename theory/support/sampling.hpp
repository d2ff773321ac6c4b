// SPDX-License-Identifier: Apache-2.0
// How many samples a point takes: enough for the sensitivity that its suite promises.
#pragma once
#include "harness/numerics/verdict.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
/// The relative error that a sampled point must detect (sensitivity() of verdict.hpp), unless its rivals require less.
inline double wanted_sensitivity(const Protocol &protocol) { return protocol.full() ? 0.01 : 0.04; }

/// The same, or less if a rival's prediction is near. A rival must be at least 13 standard errors from the right
/// prediction: then a point confuses the two at most once in 10^10 runs.
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

/// The mean of draw(first, count), which returns the samples first ... first + count - 1 of one stream. A pilot
/// estimates the standard deviation and from it the number of samples. If the pilot was too optimistic, the number is
/// doubled until the mean detects a relative error of `wanted`, or `most` samples are drawn.
template <class Draw> Mean sample_mean(double wanted, size_t pilot, size_t most, const Draw &draw) {
  std::vector<double> samples = draw(size_t(0), pilot);
  for (;;) {
    const Mean mean = mean_of(samples);
    const double seen = sensitivity(sampled_point(mean, mean.mean)), short_by = seen / wanted;
    if (short_by <= 1 || samples.size() >= most) return mean;
    const double needed = std::min({double(most), 1.2 * samples.size() * short_by * short_by, 64.0 * samples.size()});
    const std::vector<double> more = draw(samples.size(), std::max<size_t>(1, size_t(needed) - samples.size()));
    samples.insert(samples.end(), more.begin(), more.end());
  }
}

/// The number of samples in a block, where each sample has `numbers` numbers; the arrays of a block fit into the cache.
inline size_t cached_block(size_t numbers) { return std::max<size_t>(1, (size_t(1) << 15) / numbers); }
/// Calls draw(first, count) in blocks, so that the arrays of many samples are never in memory at once.
template <class Draw> auto in_blocks(size_t block, Draw draw) {
  return [=](size_t first, size_t count) {
    std::vector<double> samples;
    for (size_t done = 0; done < count; done += block) {
      const std::vector<double> more = draw(first + done, std::min(block, count - done));
      samples.insert(samples.end(), more.begin(), more.end());
    }
    return samples;
  };
}
} // namespace recollect::theory
