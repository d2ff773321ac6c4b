// SPDX-License-Identifier: Apache-2.0
// Summary of a few timings. Uses medians and distribution-free intervals, because times are skewed and have outliers.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

struct Timing {
  double median = 0;
  double low = 0, high = 0; // 95% bootstrap interval of the median
  /// Indices of the samples that are more than 5 scaled median absolute deviations from the median. The median includes
  /// these samples.
  std::vector<size_t> outliers;
  double noise = 0; // relative noise of a sample (noise_of)
};

double median_of(std::vector<double> values);
/// The relative standard deviation of the samples: the scaled median absolute deviation, divided by the median. 0 for
/// one sample.
double noise_of(const std::vector<double> &samples);
/// Relative standard error of the median of n normal samples with relative standard deviation `noise`:
/// sqrt(pi/2) noise / sqrt(n).
double median_error(double noise, size_t n);

/// Needs at least one sample. Resamples use a fixed seed, so the same samples give the same interval.
Timing summarise(const std::vector<double> &samples);

} // namespace recollect
