// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <vector>

namespace recollect::theory {

/// x^a / sqrt(a!) for every multi-index a of at most `order`, the constant first: their inner product is
/// sum_{m <= order} (x.y)^m / m!. These are the exp kernel's features of 000 Eq 11 with equal monomials put together.
inline std::vector<double> exp_features(const std::vector<double> &x, int order) {
  std::vector<double> features;
  const auto extend = [&](const auto &self, size_t i, int left, double product) -> void {
    if (i == x.size()) return features.push_back(product);
    for (int power = 0; power <= left; ++power) {
      self(self, i + 1, left - power, product);
      product *= x[i] / std::sqrt(power + 1);
    }
  };
  extend(extend, 0, order, 1);
  return features;
}

} // namespace recollect::theory
