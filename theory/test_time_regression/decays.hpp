// SPDX-License-Identifier: Apache-2.0
// The geometrically decaying weights of 003 Eq 14.
#pragma once
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
inline Vector gates(int t, Seed seed) { return Stream(seed, "003/gates").uniforms(t, 0.5, 0.99); }

/// gamma_i^(t), 1 <= i <= t: the product of the gates of the steps after i, or of step i and the steps after it.
enum class Product { after, from };
inline Vector weights(const Vector &gates, Product product = Product::after) {
  Vector w(gates.size(), 1.0);
  for (size_t i = 0; i < w.size(); ++i)
    for (size_t j = product == Product::after ? i + 1 : i; j < w.size(); ++j) w[i] *= gates[j];
  return w;
}
} // namespace recollect::theory
