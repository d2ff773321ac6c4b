// SPDX-License-Identifier: Apache-2.0
// Summary of a few timings. Times are skewed and have outliers, hence medians and distribution-free intervals.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

struct Timing {
  double median = 0;
  double low = 0, high = 0;     // 95% bootstrap interval of the median
  std::vector<size_t> outliers; // samples beyond 5 scaled median absolute deviations; reported, and kept in the median
  double noise = 0;             // relative noise of a sample (noise_of)
};

double median_of(std::vector<double> values);
/// The samples' standard deviation, estimated by the scaled median absolute deviation, over their median. One sample: 0.
double noise_of(const std::vector<double> &samples);
/// Relative standard error of the median of n normal samples of this noise: sqrt(pi/2) noise / sqrt(n).
double median_error(double noise, size_t n);

/// Needs at least one sample. Resamples use a fixed seed, so the same samples give the same interval.
Timing summarise(const std::vector<double> &samples);

} // namespace recollect
