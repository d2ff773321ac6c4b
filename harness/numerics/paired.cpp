// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/paired.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace recollect {
namespace {

constexpr size_t most_exact = 16, draws = 100000;

double share_as_far(const std::vector<double> &differences) {
  double found = 0, size = 0;
  for (double d : differences) found += d, size += std::fabs(d);
  const double least = std::fabs(found) - 1e-12 * size; // 1e-12: equal sums may differ by rounding
  const bool exact = differences.size() <= most_exact;
  const size_t patterns = exact ? size_t(1) << differences.size() : draws;
  const Stream drawn(1, "paired/signs");
  size_t as_far = 0;
  for (size_t pattern = 0; pattern < patterns; ++pattern) {
    double sum = 0;
    for (size_t i = 0; i < differences.size(); ++i) {
      const bool flipped = exact ? (pattern >> i) & 1 : drawn.below(pattern * differences.size() + i, 2) == 1;
      sum += flipped ? -differences[i] : differences[i];
    }
    as_far += std::fabs(sum) >= least;
  }
  return exact ? double(as_far) / double(patterns) : double(as_far + 1) / double(patterns + 1);
}

} // namespace

PairedComparison compare_pairs(const std::vector<double> &first, const std::vector<double> &second) {
  std::vector<double> differences;
  for (size_t i = 0; i < first.size(); ++i) differences.push_back(first[i] - second.at(i));
  const auto finite = [](double d) { return std::isfinite(d); };
  if (!std::all_of(differences.begin(), differences.end(), finite)) return {NAN, NAN, NAN, NAN};
  const Mean mean = mean_of(differences);
  const double freedom = double(differences.size()) - 1;
  const double reach =
      freedom > 0 ? boost::math::quantile(boost::math::students_t(freedom), 0.975) * mean.standard_error : INFINITY;
  return {mean.mean, mean.mean - reach, mean.mean + reach, share_as_far(differences)};
}

double smallest_p(int pairs) { return pairs <= int(most_exact) ? std::ldexp(2.0, -pairs) : 1.0 / double(draws + 1); }

} // namespace recollect
