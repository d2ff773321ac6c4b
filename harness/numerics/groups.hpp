// SPDX-License-Identifier: Apache-2.0
// Finite groups of permutations, by name. Tasks pose the word problem: a word is a sequence of elements of a group, and
// the product of these elements is asked.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace recollect {

using Permutation = std::vector<int>; // p[i] is the image of point i

/// A group of permutations of the points 0 ... points - 1; the identity is the first element.
struct PermutationGroup {
  int points;
  std::vector<Permutation> elements;

  /// Index of an element, which must belong to the group.
  int index_of(const Permutation &element) const;
};

/// S5, A5, S3, Z5, Z3 and parity (Z2): symmetric, alternating and cyclic groups. A5 and S5 are not solvable, so their
/// word problems are complete for NC1 (Barrington 1989).
const std::vector<std::string> &group_names();
/// The group with this name.
PermutationGroup group_named(const std::string &name);

/// The permutation i -> first[second[i]]. A permutation p rearranges a list x by putting x[p[i]] at place i. The
/// product rearranges a list first by `first`, then by `second`.
Permutation product(const Permutation &first, const Permutation &second);

/// A shortest sequence of exchanges of two places that rearranges a list by `permutation`. Its length is the number of
/// points minus the number of cycles.
std::vector<std::pair<int, int>> exchanges_of(const Permutation &permutation);

} // namespace recollect
