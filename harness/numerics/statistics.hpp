// SPDX-License-Identifier: Apache-2.0
// Sample statistics with standard errors.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

struct Mean {
  double mean = 0;
  double standard_error = 0; // of the mean
};

/// The mean of independent samples with finite variance.
Mean mean_of(const std::vector<double> &samples);

/// The mean of a time series, whose samples are correlated. The series is cut into `batches` segments; the standard
/// error follows from the means of the segments, which are taken as independent.
Mean batch_mean(const std::vector<double> &series, size_t batches = 32);

/// The slope of the least-squares line through the points (x, y), with the standard error of the slope.
Mean fitted_slope(const std::vector<double> &x, const std::vector<double> &y);

} // namespace recollect
