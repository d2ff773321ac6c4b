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

/// Independent samples with finite variance.
Mean mean_of(const std::vector<double> &samples);

/// Correlated samples (a time series): the means of `batches` consecutive segments, taken as independent.
Mean batch_mean(const std::vector<double> &series, size_t batches = 32);

/// Slope and its standard error of the least-squares line through (x, y).
Mean fitted_slope(const std::vector<double> &x, const std::vector<double> &y);

} // namespace recollect
