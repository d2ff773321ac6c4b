// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/timing.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {

double median_of(std::vector<double> values) {
  const size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + half, values.end());
  const double upper = values[half];
  return values.size() % 2 ? upper : (upper + *std::max_element(values.begin(), values.begin() + half)) / 2;
}

Timing summarise(const std::vector<double> &samples) {
  Timing t;
  t.median = median_of(samples);

  constexpr int resamples = 1000;
  const Stream draw(1, "timing/bootstrap");
  std::vector<double> medians, resample(samples.size());
  for (int r = 0; r < resamples; ++r) {
    for (size_t i = 0; i < samples.size(); ++i)
      resample[i] = samples[draw.below(size_t(r) * samples.size() + i, samples.size())];
    medians.push_back(median_of(resample));
  }
  std::sort(medians.begin(), medians.end());
  t.low = medians[size_t(0.025 * resamples)], t.high = medians[size_t(0.975 * resamples) - 1];

  std::vector<double> deviations;
  for (double x : samples) deviations.push_back(std::fabs(x - t.median));
  const double scaled = 1.4826 * median_of(deviations); // the standard deviation, were they normal
  for (size_t i = 0; i < samples.size(); ++i)
    if (deviations[i] > 5 * scaled && scaled > 0) t.outliers.push_back(i);
  return t;
}

} // namespace recollect
