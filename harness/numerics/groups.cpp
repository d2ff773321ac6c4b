// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/groups.hpp"
#include <algorithm>
#include <numeric>

namespace recollect {
namespace {

Permutation identity(int points) {
  Permutation p(static_cast<size_t>(points));
  std::iota(p.begin(), p.end(), 0);
  return p;
}

PermutationGroup cyclic(int points) {
  PermutationGroup group{points, {}};
  Permutation p = identity(points);
  for (int i = 0; i < points; ++i) {
    group.elements.push_back(p);
    std::rotate(p.begin(), p.begin() + 1, p.end());
  }
  return group;
}

PermutationGroup symmetric(int points) {
  PermutationGroup group{points, {}};
  Permutation p = identity(points);
  do group.elements.push_back(p);
  while (std::next_permutation(p.begin(), p.end()));
  return group;
}

/// The even permutations.
PermutationGroup alternating(int points) {
  PermutationGroup group{points, {}};
  for (const Permutation &p : symmetric(points).elements)
    if (exchanges_of(p).size() % 2 == 0) group.elements.push_back(p);
  return group;
}

} // namespace

int PermutationGroup::index_of(const Permutation &element) const {
  return int(std::find(elements.begin(), elements.end(), element) - elements.begin());
}

const std::vector<std::string> &group_names() {
  static const std::vector<std::string> names{"S5", "A5", "S3", "Z5", "Z3", "parity"};
  return names;
}

PermutationGroup group_named(const std::string &name) {
  if (name == "parity") return cyclic(2);
  const int points = name[1] - '0';
  return name[0] == 'S' ? symmetric(points) : name[0] == 'A' ? alternating(points) : cyclic(points);
}

Permutation product(const Permutation &first, const Permutation &second) {
  Permutation p;
  for (int i : second) p.push_back(first[size_t(i)]);
  return p;
}

std::vector<std::pair<int, int>> exchanges_of(const Permutation &permutation) {
  std::vector<std::pair<int, int>> exchanges;
  Permutation at = identity(int(permutation.size())); // the element at each place
  for (size_t i = 0; i < at.size(); ++i) {
    const auto wanted = std::find(at.begin(), at.end(), permutation[i]);
    if (*wanted == at[i]) continue;
    exchanges.emplace_back(int(i), int(wanted - at.begin()));
    std::swap(at[i], *wanted);
  }
  return exchanges;
}

} // namespace recollect
