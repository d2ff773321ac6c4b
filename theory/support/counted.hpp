// SPDX-License-Identifier: Apache-2.0
// Costs are counted, not timed: the algorithm runs on a number type that counts products and quotients.
#pragma once
#include <cmath>

namespace recollect::theory {
/// A number whose products and quotients are counted.
struct Counted {
  double value = 0;
  static inline long products = 0;
  Counted(double value = 0) : value(value) {}
};
inline Counted operator*(Counted a, Counted b) { return ++Counted::products, Counted(a.value * b.value); }
inline Counted operator/(Counted a, Counted b) { return ++Counted::products, Counted(a.value / b.value); }
inline Counted operator+(Counted a, Counted b) { return a.value + b.value; }
inline Counted operator-(Counted a, Counted b) { return a.value - b.value; }
inline Counted exp(Counted a) { return std::exp(a.value); } // exp and log are not counted
inline Counted log(Counted a) { return std::log(a.value); }

template <class F> double count(const F &f) {
  Counted::products = 0;
  f();
  return double(Counted::products);
}
} // namespace recollect::theory
