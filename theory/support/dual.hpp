// SPDX-License-Identifier: Apache-2.0
// Dual numbers, which carry a derivative (forward differentiation). They give the gradient of any loss that is written
// for them, up to rounding.
#pragma once
#include <cmath>
#include <vector>

namespace recollect::theory {
struct Dual {
  double value = 0, slope = 0;
  Dual(double value = 0, double slope = 0) : value(value), slope(slope) {}
};
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
inline Dual operator/(Dual a, Dual b) { return {a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value}; }
inline Dual sqrt(Dual a) { return {std::sqrt(a.value), a.slope / (2 * std::sqrt(a.value))}; }
inline Dual exp(Dual a) { return {std::exp(a.value), a.slope * std::exp(a.value)}; }
inline Dual erf(Dual a) { return {std::erf(a.value), a.slope * 2 / std::sqrt(M_PI) * std::exp(-a.value * a.value)}; }

/// d loss / d x, with one evaluation of loss(const std::vector<Dual> &) per component.
template <class Loss> std::vector<double> derivative(const std::vector<double> &x, const Loss &loss) {
  std::vector<Dual> dual(x.begin(), x.end());
  std::vector<double> slopes;
  for (Dual &component : dual) {
    component.slope = 1;
    slopes.push_back(loss(dual).slope);
    component.slope = 0;
  }
  return slopes;
}
} // namespace recollect::theory
