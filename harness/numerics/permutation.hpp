// SPDX-License-Identifier: Apache-2.0
// Exact permutation test of two small groups, where each group uses its best alternative.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

/// Results of one group: one row per sample, one column per alternative. All rows have the same number of columns.
using Tried = std::vector<std::vector<double>>;

/// The first column whose mean is largest, or smallest.
size_t best_column(const Tried &trials, bool smallest = false);

/// p-values of both one-sided tests. The test statistic is the difference of the groups' means, each in the group's
/// best column. The p-value is the fraction of all splits of the rows into groups of these sizes for which this
/// difference is at least as large as measured. Every split selects the best columns again, so that the selection does
/// not bias the test.
struct PermutationTest {
  double first_larger, second_larger;
};
PermutationTest permutation_test(const Tried &first, const Tried &second, bool smallest = false);
/// The largest number of samples in a group for which testing all splits takes about a second.
constexpr size_t most_permuted = 10;

} // namespace recollect
