// SPDX-License-Identifier: Apache-2.0
// Exact permutation test of two small groups, where each group uses its best alternative.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

/// One row per sample, one column per alternative; the best column counts. All rows have the same number of columns.
using Tried = std::vector<std::vector<double>>;

/// The first column whose mean is largest, or smallest.
size_t best_column(const Tried &trials, bool smallest = false);

/// p-values of both one-sided tests: the fraction of all splits of the rows into groups of these sizes whose best means
/// differ at least as much. The best column is selected again in every split, so that the selection does not bias the
/// test.
struct PermutationTest {
  double first_larger, second_larger;
};
PermutationTest permutation_test(const Tried &first, const Tried &second, bool smallest = false);
/// Largest number of rows in total: all splits of this many are tested in a second.
constexpr size_t most_permuted = 10;

} // namespace recollect
