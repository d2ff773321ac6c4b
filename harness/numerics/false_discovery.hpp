// SPDX-License-Identifier: Apache-2.0
// Multiple testing: adjusts p-values so that, of all tests with adjusted p <= a, at most the fraction a is expected to
// be false discoveries (Benjamini and Hochberg 1995).
#pragma once
#include <vector>

namespace recollect {

/// Adjusted p-values, in the order of `p`: for the i-th smallest of n, min over j >= i of n p_(j) / j. No NaN in `p`.
std::vector<double> adjusted_for_discoveries(const std::vector<double> &p);

} // namespace recollect
