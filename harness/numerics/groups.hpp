// SPDX-License-Identifier: Apache-2.0
// Finite groups of permutations by name, for word problems: the product of a word's letters.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace recollect {

using Permutation = std::vector<int>; // point i goes to [i]

/// The elements of a group that permutes the points 0 ... points - 1; the identity is the first.
struct Group {
  int points;
  std::vector<Permutation> elements;

  /// The number of an element, which must be one.
  int index_of(const Permutation &element) const;
};

/// S5, A5, S3, Z5, Z3 and parity, which is Z2: symmetric, alternating and cyclic groups. A5 and S5 are not solvable, so
/// that their word problems are complete for NC1 (Barrington 1989).
const std::vector<std::string> &group_names();
/// A group of that list.
Group group_named(const std::string &name);

/// i -> first[second[i]]: a list rearranged by `first` and then by `second`, where x rearranged by p has x[p[i]] at place
/// i.
Permutation product(const Permutation &first, const Permutation &second);

/// The fewest exchanges of two places that rearrange a list by `permutation`, in order: points less cycles.
std::vector<std::pair<int, int>> exchanges_of(const Permutation &permutation);

} // namespace recollect
