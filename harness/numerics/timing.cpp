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

namespace {

std::vector<double> distances(const std::vector<double> &samples, double from) {
  std::vector<double> all;
  for (double x : samples) all.push_back(std::fabs(x - from));
  return all;
}

constexpr double scale_of_normal = 1.4826; // standard deviation / median absolute deviation of a normal distribution

} // namespace

double noise_of(const std::vector<double> &samples) {
  const double median = median_of(samples);
  return median > 0 ? scale_of_normal * median_of(distances(samples, median)) / median : 0;
}

double median_error(double noise, size_t n) { return std::sqrt(std::acos(-1.0) / 2) * noise / std::sqrt(double(n)); }

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

  t.noise = noise_of(samples);
  const std::vector<double> deviations = distances(samples, t.median);
  const double scaled = scale_of_normal * median_of(deviations);
  for (size_t i = 0; i < samples.size(); ++i)
    if (deviations[i] > 5 * scaled && scaled > 0) t.outliers.push_back(i);
  return t;
}

} // namespace recollect
