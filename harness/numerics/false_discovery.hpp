// SPDX-License-Identifier: Apache-2.0
// Multiple testing: p-values adjusted so that, of the tests called significant at a level, at most that share is
// expected to be false (Benjamini and Hochberg 1995).
#pragma once
#include <vector>

namespace recollect {

/// min over j >= i of n p_(j) / j for the i-th smallest, at most 1, in the order given. p-values in [0, 1], no NaN.
std::vector<double> adjusted_for_discoveries(const std::vector<double> &p);

} // namespace recollect
