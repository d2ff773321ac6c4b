// SPDX-License-Identifier: Apache-2.0
// Comparison of two samples whose values come in pairs, such as two layers on the same seeds.
#pragma once
#include <vector>

namespace recollect {

struct PairedComparison {
  double difference; // mean of first - second
  double low, high;  // 95% interval of it, by Student's t; infinite for one pair
  double p;          // two-sided; 1 where there is no difference
};

/// p by the sign-flip permutation test (Fisher 1935): if the two are exchangeable within each pair, every difference has
/// either sign with equal probability; p is the share of the 2^n sign patterns whose mean is at least as far from 0. Up to
/// 16 pairs all patterns are tried, above that 100,000 drawn ones. At least one pair; values that are not finite make all NaN.
PairedComparison compare_pairs(const std::vector<double> &first, const std::vector<double> &second);

/// The smallest p that so many pairs can have.
double smallest_p(int pairs);

} // namespace recollect
