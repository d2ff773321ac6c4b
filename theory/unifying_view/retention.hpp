// SPDX-License-Identifier: Apache-2.0
// How much of old pairs remains after later writes (002 §4-6).
//
// The state S = I is what d pairs with orthonormal keys e_i and one-hot values (the needles) leave in an empty
// delta-rule memory. After later writes of v = 0, the read at e_i is S(i,i) times the value of needle i, plus a part
// orthogonal to this value. The mean of S(i,i) over the needles is trace(S) / d. A write of v = 0 at a unit key k with
// strength beta takes beta (k . e_i)^2 from S(i,i) if S = I. If k is uniform on the sphere, E k k^T = I / d, so each
// write multiplies the mean of S by 1 - beta/d. After m writes the mean is (1 - beta/d)^m, or alpha^m (1 - beta/d)^m
// with a gate alpha.
#pragma once
#include "theory/support/layer_points.hpp"
#include "theory/support/sampling.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
/// Unit keys [count,m,d], uniform on the sphere: memories first ... first + count - 1 of the stream.
inline Vector later_keys(int m, int d, Seed seed, size_t first, size_t count) {
  return random_units(count * m, d, Stream(seed, "002/later keys"), first * m);
}

/// For each memory, trace(S) / d after writes of 0 at `keys` [memories,m,d]: the share of a needle that remains,
/// averaged over the d needles.
inline Vector kept(const std::string &variant, const Vector &keys, int m, int d, double beta, double alpha) {
  const int memories = int(keys.size() / (size_t(m) * d));
  Sequence s = stored({memories, 1, m, d, d}, keys, Vector(keys.size()), beta);
  s.alpha.assign(size_t(memories) * m, alpha), s.state = repeated(Dense::identity(d).data, memories);
  const Vector state = forward(find_variant(variant), s, {"fast", Real::f64, 16, {}}).state;
  Vector left(memories, 0.0);
  for (int b = 0; b < memories; ++b)
    for (int i = 0; i < d; ++i) left[b] += state[(size_t(b) * d + i) * d + i] / d;
  return left;
}

/// The mean of kept() over random later keys, with as many memories as the sensitivity `wanted` needs.
inline Mean mean_kept(const std::string &variant, int m, int d, double beta, double alpha, const Protocol &protocol,
                      double wanted) {
  const auto draw = [&](size_t first, size_t count) {
    return kept(variant, later_keys(m, d, protocol.seed, first, count), m, d, beta, alpha);
  };
  return sample_mean(wanted, pilot_size(protocol), 400'000, in_blocks(cached_block(size_t(d) * (2 * m + d)), draw));
}
} // namespace recollect::theory
