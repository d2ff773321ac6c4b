// SPDX-License-Identifier: Apache-2.0
// Which timings count and when there are enough of them. It reads no clock: tests feed it made-up times.
#pragma once
#include "harness/numerics/timing.hpp"
#include <string>

namespace recollect {

struct Sample {
  double seconds = 0;
  double clock = 1; // of the processor while the sample ran, over its default clock; 1 where it cannot be read
  double taken = 0; // seconds that it took to get the sample, with resetting buffers and flushing caches
};

/// When to stop, after nvbench's rules: the median is precise, or more samples would not make it so.
struct SamplingRule {
  size_t least = 5, most = 1000; // samples kept
  double least_seconds = 0.3;    // the sum of their times
  double most_seconds = 6;       // that it takes to get them: then even fewer than `least` are enough
  double precision = 0.005;      // relative standard error of the median
  double slowest_clock = 0.75;   // slower samples are discarded,
  size_t most_discarded = 50;    // but no more than this: a card that stays slow is timed as it is
};

class Sampling {
public:
  explicit Sampling(const SamplingRule &rule = {}) : rule_(rule) {}
  /// False where the sample is discarded.
  bool add(const Sample &sample);
  bool done() const;
  const std::vector<double> &seconds() const { return seconds_; }
  size_t discarded() const { return discarded_; }
  /// The median clock of the samples kept, over the default clock.
  double clock() const { return clocks_.empty() ? 1 : median_of(clocks_); }
  /// Seconds that a sample took on average, with what it took to get it; 0 where there is none.
  double taken_each() const { return taken_ > 0 ? taken_ / double(seconds_.size() + discarded_) : 0; }
  /// Whether samples at a slow clock were kept because too many had been discarded.
  bool kept_slow() const { return kept_slow_; }
  /// "precise", "noise settled", "most samples", "most seconds"; "" while not done
  std::string stopped_by() const;

private:
  bool noise_settled() const;

  SamplingRule rule_;
  std::vector<double> seconds_, clocks_, noise_; // noise_[i]: of the first i + 1 samples
  double total_ = 0, taken_ = 0;
  size_t discarded_ = 0;
  bool kept_slow_ = false;
};

} // namespace recollect
