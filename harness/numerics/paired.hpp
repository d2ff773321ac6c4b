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

/// Needs at least one pair. p is the p-value of the sign-flip permutation test (Fisher 1935). If the two values of each
/// pair are exchangeable, every difference has either sign with equal probability. p is the fraction of the 2^n sign
/// patterns of n differences for which the mean difference is at least as far from 0 as the measured one. All patterns
/// are tried for up to 16 pairs, and 100,000 random patterns for more. If a difference is not finite, all results are
/// NaN.
PairedComparison compare_pairs(const std::vector<double> &first, const std::vector<double> &second);

/// The smallest p that a comparison of this many pairs can give.
double smallest_p(int pairs);

} // namespace recollect
