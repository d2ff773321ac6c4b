// SPDX-License-Identifier: Apache-2.0
// Decides which timings count and when there are enough. It reads no clock, so tests can feed simulated times.
#pragma once
#include "harness/numerics/timing.hpp"
#include <string>

namespace recollect {

struct Sample {
  double seconds = 0;
  double clock = 1; // the processor's clock during the sample, over its default clock; 1 if unknown
  double taken = 0; // wall time of the sample in seconds, including resetting buffers and flushing caches
};

/// When to stop, after nvbench's rules: when the median is precise, or when more samples would not make it so.
struct SamplingRule {
  size_t least = 5, most = 1000; // number of samples kept
  double least_seconds = 0.3;    // sum of their times
  double most_seconds = 6;       // wall time; after it even fewer than `least` are enough
  double precision = 0.005;      // target for the relative standard error of the median
  double slowest_clock = 0.75;   // samples taken at a slower clock are discarded,
  size_t most_discarded = 50;    // at most this many: a GPU that stays slow is timed at its slow clock
};

class Sampling {
public:
  explicit Sampling(const SamplingRule &rule = {}) : rule_(rule) {}
  /// False if the sample is discarded.
  bool add(const Sample &sample);
  bool done() const;
  const std::vector<double> &seconds() const { return seconds_; }
  size_t discarded() const { return discarded_; }
  /// The median clock of the samples kept, over the default clock.
  double clock() const { return clocks_.empty() ? 1 : median_of(clocks_); }
  /// Average wall time per sample in seconds; 0 without samples.
  double taken_each() const { return taken_ > 0 ? taken_ / double(seconds_.size() + discarded_) : 0; }
  /// Whether samples at a slow clock were kept because too many were discarded before.
  bool kept_slow() const { return kept_slow_; }
  /// "precise", "noise settled", "most samples", "most seconds"; "" while not done
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
