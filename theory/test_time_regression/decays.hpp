// SPDX-License-Identifier: Apache-2.0
// The geometrically decaying weights of 003 Eq 14, and weighted least squares for every prefix.
#pragma once
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
inline Vector gates(int t, Seed seed) { return Stream(seed, "003/gates").uniforms(t, 0.5, 0.99); }

/// gamma_i^(t), 1 <= i <= t: the product of the gates of steps i + 1 ... t (`after`), or of steps i ... t (`from`).
enum class Product { after, from };
inline Vector weights(const Vector &gates, Product product = Product::after) {
  Vector w(gates.size(), 1.0);
  for (size_t i = 0; i < w.size(); ++i)
    for (size_t j = product == Product::after ? i + 1 : i; j < w.size(); ++j) w[i] *= gates[j];
  return w;
}
/// The weights at step t of a sequence.
inline Vector weights(const Sequence &s, int t, Product product = Product::after) {
  return weights({s.alpha.begin(), s.alpha.begin() + t + 1}, product);
}

/// The reads and the last memory of M_t = C_t G_t^{-1}. G_t is `gram` (a matrix, or a function of t) plus the weighted
/// sum of k k^T, and C_t is `cross` plus the weighted sum of v k^T. In both sums pair i of the sequence has the weight
/// weight(i, t).
template <class Gram, class Weight>
Output solutions(Sequence s, const Gram &gram, const Dense &cross, const Weight &weight) {
  s.state.clear();
  return stepped(s, [&](const Dense &, const Dense &, const Dense &, int t) {
    Dense G, C = cross;
    if constexpr (std::is_same_v<Gram, Dense>)
      G = gram;
    else
      G = gram(t);
    for (int i = 0; i < s.shape.T; ++i) {
      const Dense k = column(s.k, i, s.shape.Dk), v = column(s.v, i, s.shape.Dv);
      G = G + weight(i, t) * write(k, k), C = C + weight(i, t) * write(v, k);
    }
    return C * inverse(G);
  });
}
} // namespace recollect::theory
