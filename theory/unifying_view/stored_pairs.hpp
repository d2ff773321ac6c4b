// SPDX-License-Identifier: Apache-2.0
// How well a state reads what it stores (002 §3-5; 000 §2.1): n keys are drawn from the unit sphere in d dimensions,
// the values are N(0, I). The relative error of item i is E |S k_i - v_i|^2 / dv.
#pragma once
#include "harness/numerics/inputs.hpp"
#include "theory/support/claim_builder.hpp"
#include "theory/support/layer_points.hpp"
#include "theory/support/sampling.hpp"
#include <cmath>

namespace recollect::theory {

/// Unit keys [count,n,d] of the memories first ... first + count - 1.
inline std::vector<double> stored_keys(int n, int d, std::uint64_t seed, size_t first, size_t count) {
  std::vector<double> keys = Stream(seed, "002/stored keys").normals(count * size_t(n) * d, first * size_t(n) * d);
  normalise_rows(keys, d);
  return keys;
}

struct Store {
  std::string variant;
  int n, d;
  double alpha = 1; // of a gate
};

/// Mean relative error over the items [from, to) in each memory. Item i is stored with the i-th unit vector for a
/// value: the layers here are linear in their values, so that the sum over channels is the mean over Gaussian values.
inline std::vector<double> item_errors(const Store &store, int from, int to, std::uint64_t seed, size_t first,
                                       size_t count) {
  const int n = store.n, d = store.d;
  Sequence s;
  s.shape = {int(count), 1, n, d, n};
  s.q = s.k = stored_keys(n, d, seed, first, count);
  s.v.assign(count * n * n, 0);
  for (size_t i = 0; i < count * n; ++i) s.v[i * n + i % n] = 1;
  s.beta.assign(count * n, 1), s.alpha.assign(count * n, store.alpha);
  const std::vector<double> state = forward(find_variant(store.variant), s, {"fast", Real::f64, 32, {}}).state;
  std::vector<double> errors(count, 0.0);
  for (size_t m = 0; m < count; ++m)
    for (int i = from; i < to; ++i)
      for (int c = 0; c < n; ++c) {
        const double read = inner(&state[(m * n + c) * d], &s.k[(m * n + i) * d], d);
        errors[m] += (read - (c == i)) * (read - (c == i)) / (to - from);
      }
  return errors;
}

/// Its mean over memories, as many as the sensitivity `wanted` needs.
inline Mean mean_error(const Store &store, int from, int to, const Protocol &protocol, double wanted) {
  const auto draw = [&](size_t first, size_t count) {
    return item_errors(store, from, to, protocol.seed, first, count);
  };
  return sample_mean(wanted, pilot_size(protocol, 200), 2'000'000,
                     in_blocks(cached_block(size_t(store.n) * (store.n + store.d)), draw));
}

/// The least error of any state of d columns over n > d independent keys, 1 - d/n; none at n <= d.
inline double least_error(int n, int d) { return n > d ? 1 - double(d) / n : 0; }

} // namespace recollect::theory
