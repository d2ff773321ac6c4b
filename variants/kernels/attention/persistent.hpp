// SPDX-License-Identifier: Apache-2.0
// Persistent memory: the weights of a feed-forward network as keys and values (000 §2.1.1, Eq 14). The keys k and
// values v are the rows of W_K and W_V, and w has the rows of the gate's matrix. T is the hidden width, and every query
// sees all T rows, later ones included.
#pragma once
#include "variants/kernels/attention/backward.hpp"

namespace recollect::variants {

/// Derivative of silu: s (1 + z (1 - s)), where s is the sigmoid of z.
template <class Real> KOKKOS_FUNCTION Real silu_slope(Real z) {
  const Real s = math::sigmoid(z);
  return s * (1 + z * math::sigmoid(-z));
}

inline Variant persistent_variant() {
  Variant v = attention_variant();
  v.family = "persistent memory";
  v.cost = 2 * cost::T * (cost::Dk + cost::Dv);
  v.traits.causal = false;
  return v;
}

} // namespace recollect::variants
