// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/sampling.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {

bool Sampling::add(const Sample &sample) {
  taken_ += std::max(sample.taken, sample.seconds);
  if (sample.clock < rule_.slowest_clock) {
    if (discarded_ < rule_.most_discarded) return ++discarded_, false;
    kept_slow_ = true;
  }
  seconds_.push_back(sample.seconds), clocks_.push_back(sample.clock);
  total_ += sample.seconds;
  noise_.push_back(noise_of(seconds_));
  return true;
}

/// Whether the noise changed by less than 5% over the last half of the samples.
bool Sampling::noise_settled() const {
  const size_t window = std::max(rule_.least, noise_.size() / 2);
  if (noise_.size() < 2 * window) return false;
  const auto [low, high] = std::minmax_element(noise_.end() - std::ptrdiff_t(window), noise_.end());
  return *high - *low <= 0.05 * *high;
}

std::string Sampling::stopped_by() const {
  if (seconds_.size() >= rule_.most) return "most samples";
  if (!seconds_.empty() && taken_ >= rule_.most_seconds) return "most seconds";
  if (seconds_.size() < rule_.least || total_ < rule_.least_seconds) return "";
  if (median_error(noise_.back(), seconds_.size()) <= rule_.precision) return "precise";
  return noise_settled() ? "noise settled" : "";
}

bool Sampling::done() const { return !stopped_by().empty(); }

} // namespace recollect
