// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/false_discovery.hpp"
#include <algorithm>
#include <numeric>

namespace recollect {

std::vector<double> adjusted_for_discoveries(const std::vector<double> &p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (size_t rank = p.size(); rank > 0; --rank) {
    const size_t i = order[rank - 1];
    adjusted[i] = least = std::min(least, p[i] * double(p.size()) / double(rank));
  }
  return adjusted;
}

} // namespace recollect
