// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/statistics.hpp"
#include <cmath>

namespace recollect {

Mean mean_of(const std::vector<double> &x) {
  const double n = double(x.size());
  double sum = 0, squares = 0;
  for (double value : x) sum += value;
  const double mean = sum / n;
  for (double value : x) squares += (value - mean) * (value - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1) / n) : INFINITY};
}

Mean batch_mean(const std::vector<double> &series, size_t batches) {
  const size_t length = series.size() / batches; // numbers after the last full batch are ignored
  std::vector<double> means;
  for (size_t b = 0; length && b < batches; ++b)
    means.push_back(mean_of(std::vector<double>(series.begin() + b * length, series.begin() + (b + 1) * length)).mean);
  return mean_of(means);
}

Mean fitted_slope(const std::vector<double> &x, const std::vector<double> &y) {
  const double n = double(x.size()), mx = mean_of(x).mean, my = mean_of(y).mean;
  double xx = 0, xy = 0, residual = 0;
  for (size_t i = 0; i < x.size(); ++i) xx += (x[i] - mx) * (x[i] - mx), xy += (x[i] - mx) * (y[i] - my);
  const double slope = xy / xx;
  for (size_t i = 0; i < x.size(); ++i) {
    const double r = y[i] - my - slope * (x[i] - mx);
    residual += r * r;
  }
  return {slope, n > 2 ? std::sqrt(residual / (n - 2) / xx) : INFINITY};
}

} // namespace recollect
