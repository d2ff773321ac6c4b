// SPDX-License-Identifier: Apache-2.0
// Multiple testing: adjusts p-values so that, of all tests with adjusted p <= a, at most the fraction a is expected to
// be false discoveries (Benjamini and Hochberg 1995).
#pragma once
#include <vector>

namespace recollect {

/// Adjusted p-values, in the order of `p`. If p_(j) is the j-th smallest of n, then p_(i) is adjusted to the minimum
/// over j >= i of n p_(j) / j. `p` must not contain NaN.
std::vector<double> adjusted_for_discoveries(const std::vector<double> &p);

} // namespace recollect
