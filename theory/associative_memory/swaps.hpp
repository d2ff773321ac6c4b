// SPDX-License-Identifier: Apache-2.0
// The swap construction of 000 Theorem 1 as one sequence, and what its reads should return.
//
//   steps 1 ... n      write (k_i, i + 1): integer values, so that every right read is an integer
//   steps n+1 ... T    k = k_a - k_b with v = 0, which exchanges the values of a and b
//
// Every step also reads one key, chosen at random, through its own q: a read writes nothing.
#pragma once
#include "harness/numerics/keys.hpp"
#include "theory/support/layer_points.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {

enum class Order { later_minus_earlier, earlier_minus_later, random };

struct SwapStory {
  Sequence sequence;          // one head, Dv = 1, beta = alpha = 1
  std::vector<double> target; // [T] what the read at each step should return
  std::vector<double> values; // [n] the value of each key at the end
};

/// One [n,d] set.
inline Dense key_rows(const KeySet &set, std::uint64_t seed) { return Dense(set.n, set.d, make_keys(set, 1, seed)); }
inline double coherence(const Dense &keys) { return recollect::coherence(keys.data, keys.rows, keys.columns); }

/// keys [n,d]. `sign` = -1 is the theorem's k_a - k_b; +1 is k_a + k_b.
inline SwapStory tell_swaps(const Dense &keys, int swaps, std::uint64_t seed, Order order = Order::later_minus_earlier,
                            double sign = -1) {
  const int n = keys.rows, d = keys.columns, T = n + swaps;
  SwapStory story;
  Sequence &s = story.sequence;
  s.shape = {1, 1, T, d, 1};
  s.k.resize(size_t(T) * d), s.q.resize(size_t(T) * d), s.v.assign(T, 0.0);
  s.beta.assign(T, 1.0), s.alpha.assign(T, 1.0);
  const Stream pairs(seed, "swaps/pairs"), reads(seed, "swaps/reads");
  for (int i = 0; i < n; ++i) story.values.push_back(i + 1);
  for (int t = 0; t < T; ++t) {
    if (t < n) {
      for (int c = 0; c < d; ++c) s.k[size_t(t) * d + c] = keys(t, c);
      s.v[t] = t + 1;
    } else {
      const int x = int(pairs.below(3 * size_t(t), n)), y = (x + 1 + int(pairs.below(3 * size_t(t) + 1, n - 1))) % n;
      int a = std::max(x, y), b = std::min(x, y);
      if (order == Order::earlier_minus_later || (order == Order::random && pairs.bits(3 * size_t(t) + 2) & 1))
        std::swap(a, b);
      for (int c = 0; c < d; ++c) s.k[size_t(t) * d + c] = keys(a, c) + sign * keys(b, c);
      std::swap(story.values[a], story.values[b]);
    }
    const int asked = int(reads.below(t, std::min(t + 1, n)));
    for (int c = 0; c < d; ++c) s.q[size_t(t) * d + c] = keys(asked, c);
    story.target.push_back(story.values[asked]);
  }
  return story;
}

/// Reads of the layer delta_former with one similarity for erase and read.
inline std::vector<double> reads_by(const std::string &kernel, const Sequence &s, const std::string &form = "chunked",
                                    Real real = Real::f64) {
  const Variant &layer = find_variant("delta_former");
  return forward(layer, s, {form, real, 64, variant_params(layer, {{"kappa1", kernel}, {"kappa2", kernel}})}).o;
}
inline std::vector<double> reads_by_round(const SwapStory &story) { return reads_by("round", story.sequence); }

/// Every read is the integer that it should be: with f = round all of Eq 41-42 is integers, and no arithmetic errs.
inline Point exactly_tracked(const std::vector<double> &reads, const SwapStory &story) {
  return exact_point(reads, story.target, 0);
}

/// Share of the swap steps whose read is nearer to another integer than to the right one; NaN counts as wrong.
inline double wrong_share(const std::vector<double> &reads, const SwapStory &story, int n) {
  const int T = int(story.target.size());
  int wrong = 0;
  for (int t = n; t < T; ++t) wrong += !(std::fabs(reads[t] - story.target[t]) < 0.5);
  return double(wrong) / (T - n);
}

/// Largest error of any read from the first write to the last swap.
inline double worst_read(const std::vector<double> &reads, const SwapStory &story) {
  return max_difference(reads, story.target);
}

} // namespace recollect::theory
