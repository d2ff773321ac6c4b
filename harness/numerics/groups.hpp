// SPDX-License-Identifier: Apache-2.0
// Finite groups of permutations by name, for word problems: the product of a word's letters.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace recollect {

using Permutation = std::vector<int>; // point i goes to [i]

/// A group of permutations of the points 0 ... points - 1; the identity is the first element.
struct Group {
  int points;
  std::vector<Permutation> elements;

  /// Index of an element, which must belong to the group.
  int index_of(const Permutation &element) const;
};

/// S5, A5, S3, Z5, Z3 and parity (Z2): symmetric, alternating and cyclic groups. A5 and S5 are not solvable, so their
/// word problems are complete for NC1 (Barrington 1989).
const std::vector<std::string> &group_names();
/// The group of that name.
Group group_named(const std::string &name);

/// i -> first[second[i]]. Rearranging x by p puts x[p[i]] at place i, so this rearranges by `first`, then by `second`.
Permutation product(const Permutation &first, const Permutation &second);

/// The shortest sequence of exchanges of two places that rearranges a list by `permutation`; its length is points -
/// cycles.
std::vector<std::pair<int, int>> exchanges_of(const Permutation &permutation);

} // namespace recollect
