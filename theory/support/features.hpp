// SPDX-License-Identifier: Apache-2.0
// Feature maps phi, on the host.
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

/// The features x^a / sqrt(a!) for every multi-index a of order at most `order`, the constant first. Their inner
/// product is sum_{m <= order} (x.y)^m / m!: the features of the exp similarity, 000 Eq 11, with equal monomials
/// merged.
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

/// elu(x) + 1 > 0, the feature map of Katharopoulos et al. 2020 (002 §2, 003 after Eq 3), element by element.
inline double elu_plus_one(double x) { return x > 0 ? x + 1 : std::exp(x); }
inline std::vector<double> elu_plus_one(std::vector<double> x) {
  for (double &value : x) value = elu_plus_one(value);
  return x;
}
} // namespace recollect::theory
