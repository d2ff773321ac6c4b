// SPDX-License-Identifier: Apache-2.0
// Gated DeltaNet-2 (2605.22791) on the host: an erase gate per key channel, a write gate per value channel.
#pragma once
#include "theory/support/one_head.hpp"
#include <cmath>

namespace recollect::theory {
/// x . y, element by element.
inline Dense each(Dense x, const Dense &y) {
  for (size_t i = 0; i < x.data.size(); ++i) x.data[i] *= y.data[i];
  return x;
}

/// S [Dv,Dk] after one token: S' = S diag(decay), then S' + (w . v - S' (b . k)) k^T. The dot is the element-wise
/// product.
inline Dense erase_and_write(const Dense &S, const Dense &k, const Dense &v, const Dense &decay, const Dense &b,
                             const Dense &w) {
  Dense kept = S;
  for (int i = 0; i < S.rows; ++i)
    for (int j = 0; j < S.columns; ++j) kept(i, j) *= decay.data[j];
  return kept + write(each(w, v) - kept * each(b, k), k);
}

/// The matrix by which a token without decay multiplies the state from the right: I - (b . k) k^T.
inline Dense erasing(const Dense &k, const Dense &b) { return Dense::identity(k.rows) - each(b, k) * transpose(k); }

/// The product of the erasures of two tokens with unit keys and erase gates of 0 and 1. The gate of the first token is
/// 1 only in channel 2, the gate of the second only in channel 1; `share` is the square of the key in the channel with
/// gate 1.
inline Dense in_turn(double share) {
  const double own = std::sqrt(share), other = std::sqrt(1 - share);
  return erasing(Dense(2, 1, {-other, own}), Dense(2, 1, {0, 1})) *
         erasing(Dense(2, 1, {-own, other}), Dense(2, 1, {1, 0}));
}
} // namespace recollect::theory
