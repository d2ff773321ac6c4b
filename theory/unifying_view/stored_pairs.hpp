// SPDX-License-Identifier: Apache-2.0
// How well a state reads what it stores (002 §3-5; 000 §2.1): n keys are drawn from the unit sphere in d dimensions,
// the values are N(0, I). The relative error of item i is E |S k_i - v_i|^2 / dv.
#pragma once
#include "theory/support/layer_points.hpp"
#include "theory/support/sampling.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
/// Unit keys [count,n,d] of the memories first ... first + count - 1.
inline Vector stored_keys(int n, int d, Seed seed, size_t first, size_t count) {
  return random_units(count * n, d, Stream(seed, "002/stored keys"), first * n);
}

struct Store {
  std::string variant;
  int n, d;
  double alpha = 1; // the gate, if the layer has one
};

/// Mean relative error over the items [from, to) in each memory. The value of item i is the i-th unit vector. The
/// layers here are linear in their values, so the squared error summed over channels is the mean over Gaussian values.
inline Vector item_errors(const Store &store, int from, int to, Seed seed, size_t first, size_t count) {
  const int n = store.n, d = store.d;
  const Vector one_hot = repeated(Dense::identity(n).data, count);
  Sequence s = stored({int(count), 1, n, d, n}, stored_keys(n, d, seed, first, count), one_hot);
  s.alpha.assign(count * n, store.alpha);
  const Vector state = forward(find_variant(store.variant), s, {"fast", Real::f64, 32, {}}).state;
  Vector errors(count, 0.0);
  for (size_t m = 0; m < count; ++m)
    for (int i = from; i < to; ++i)
      for (int c = 0; c < n; ++c) {
        const double read = inner(&state[(m * n + c) * d], &s.k[(m * n + i) * d], d);
        errors[m] += (read - (c == i)) * (read - (c == i)) / (to - from);
      }
  return errors;
}

/// The mean of item_errors() over as many memories as the sensitivity `wanted` needs.
inline Mean mean_error(const Store &store, int from, int to, const Protocol &protocol, double wanted) {
  const auto draw = [&](size_t first, size_t count) {
    return item_errors(store, from, to, protocol.seed, first, count);
  };
  return sample_mean(wanted, pilot_size(protocol, 200), 2'000'000,
                     in_blocks(cached_block(size_t(store.n) * (store.n + store.d)), draw));
}

/// The smallest mean error of a state of d columns on n independent keys: 1 - d/n for n > d, 0 for n <= d.
inline double least_error(int n, int d) { return n > d ? 1 - double(d) / n : 0; }
} // namespace recollect::theory
