// SPDX-License-Identifier: Apache-2.0
// Exact permutation test of two small groups. Every sample has a result for each of several alternatives, such as
// learning rates, and each group is represented by its best alternative.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

/// The results of one group: one row per sample, one column per alternative. All rows have the same number of columns.
using Tried = std::vector<std::vector<double>>;

/// The column with the largest mean, or with the smallest if `smallest`; of equal means, the first column.
size_t best_column(const Tried &trials, bool smallest = false);

/// p-values of the two one-sided tests. The test statistic is the mean of the first group in its best column, less the
/// mean of the second group in its best column. The p-value is the fraction of all splits of the rows into groups of
/// these sizes for which the statistic is at least as large as measured (first_larger), or at most as large
/// (second_larger). The best columns are selected again in every split, so that the selection does not bias the test.
struct PermutationTest {
  double first_larger, second_larger;
};
PermutationTest permutation_test(const Tried &first, const Tried &second, bool smallest = false);
/// With this many samples in each group, testing all splits takes about a second.
constexpr size_t most_permuted = 10;

} // namespace recollect
