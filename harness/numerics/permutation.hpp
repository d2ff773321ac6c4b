// SPDX-License-Identifier: Apache-2.0
// The exact test of two small groups of which each is taken at its best.
#pragma once
#include <cstddef>
#include <vector>

namespace recollect {

/// A row a sample, a column an alternative of which the best one counts. All rows have as many columns.
using Tried = std::vector<std::vector<double>>;

/// The first column whose mean is largest, or smallest.
size_t best_column(const Tried &trials, bool smallest = false);

/// Were the groups alike: how often a split of all rows into groups of these sizes has best means that differ as much, one
/// way and the other. Every split is looked at, and each chooses its columns anew, so that choosing them favours nobody.
struct PermutationTest {
  double first_larger, second_larger;
};
PermutationTest permutation_test(const Tried &first, const Tried &second, bool smallest = false);
/// Rows that either group may have: all their splits are looked at in a second.
constexpr size_t most_permuted = 10;

} // namespace recollect
