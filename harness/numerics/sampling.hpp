// SPDX-License-Identifier: Apache-2.0
// Decides which timings count and when there are enough of them. Reads no clock, so that tests can use simulated times.
#pragma once
#include "harness/numerics/timing.hpp"
#include <string>

namespace recollect {

struct Sample {
  double seconds = 0;
  double clock = 1; // the processor's clock during the sample, divided by its default clock; 1 if unknown
  double taken = 0; // wall time of the sample in seconds, including resetting buffers and flushing caches
};

/// Sampling stops, as in nvbench, when the median is precise or when more samples would not make it precise.
struct SamplingRule {
  size_t least = 5, most = 1000; // limits of the number of samples kept
  double least_seconds = 0.3;    // least sum of the kept samples' times
  double most_seconds = 6;       // wall time after which sampling stops, even with fewer than `least` samples
  double precision = 0.005;      // target for the relative standard error of the median
  double slowest_clock = 0.75;   // a sample taken at a slower clock is discarded
  size_t most_discarded = 50;    // after this many discarded samples the clock is taken to stay slow, and all are kept
};

class Sampling {
public:
  explicit Sampling(const SamplingRule &rule = {}) : rule_(rule) {}
  /// False if the sample is discarded.
  bool add(const Sample &sample);
  bool done() const;
  const std::vector<double> &seconds() const { return seconds_; }
  size_t discarded() const { return discarded_; }
  /// The median of the kept samples' clocks, relative to the default clock.
  double clock() const { return clocks_.empty() ? 1 : median_of(clocks_); }
  /// Average wall time per sample in seconds; 0 without samples.
  double taken_each() const { return taken_ > 0 ? taken_ / double(seconds_.size() + discarded_) : 0; }
  /// Whether samples at a slow clock were kept because most_discarded had been discarded before.
  bool kept_slow() const { return kept_slow_; }
  /// Why sampling stopped: "precise", "noise settled", "most samples" or "most seconds"; "" while not done.
  std::string stopped_by() const;

private:
  bool noise_settled() const;

  SamplingRule rule_;
  std::vector<double> seconds_, clocks_, noise_; // noise_[i]: noise of the first i + 1 samples
  double total_ = 0, taken_ = 0;
  size_t discarded_ = 0;
  bool kept_slow_ = false;
};

} // namespace recollect
