// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/distinct.hpp"
#include <unordered_map>

namespace recollect {

std::vector<int> distinct(int count, int n, const Stream &draw, std::uint64_t first) {
  std::unordered_map<int, int> moved; // place in the shuffled list -> number at this place, if they may differ
  const auto at = [&](int place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<int> drawn;
  drawn.reserve(size_t(count));
  for (int i = 0; i < count; ++i) {
    const int place = i + int(draw.below(first + std::uint64_t(i), std::uint64_t(n - i)));
    drawn.push_back(at(place));
    moved[place] = at(i);
  }
  return drawn;
}

} // namespace recollect
