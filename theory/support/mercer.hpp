// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <vector>

namespace recollect::theory {
/// [1, x, x (x) x / sqrt(2!), ..., x^(x)M / sqrt(M!)], the exp kernel's features up to order M (000 Eq 11): their inner
/// product is sum_{m <= M} (x.y)^m / m!. Size (d^{M+1} - 1) / (d - 1).
inline std::vector<double> mercer_features(const std::vector<double> &x, int order) {
  std::vector<double> features{1}, power{1};
  for (int m = 1; m <= order; ++m) {
    std::vector<double> next;
    for (double p : power)
      for (double c : x) next.push_back(p * c / std::sqrt(m));
    power = next;
    features.insert(features.end(), power.begin(), power.end());
  }
  return features;
}
} // namespace recollect::theory
