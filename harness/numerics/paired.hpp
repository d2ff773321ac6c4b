// SPDX-License-Identifier: Apache-2.0
// Comparison of two samples whose values come in pairs, such as two layers on the same seeds.
#pragma once
#include <vector>

namespace recollect {

struct PairedComparison {
  double difference; // mean of first - second
  double low, high;  // 95% interval of the difference, by Student's t; infinite for one pair
  double p;          // two-sided; 1 if there is no difference
};

/// p is the p-value of the sign-flip permutation test (Fisher 1935). If the two values of each pair are exchangeable,
/// every difference has either sign with equal probability; p is the fraction of the 2^n sign patterns for which the
/// mean difference is at least as far from 0 as the measured one. All patterns are tried for up to 16 pairs, else
/// 100,000 random ones. Needs at least one pair. Values that are not finite make all results NaN.
PairedComparison compare_pairs(const std::vector<double> &first, const std::vector<double> &second);

/// The smallest p that this many pairs can give.
double smallest_p(int pairs);

} // namespace recollect
