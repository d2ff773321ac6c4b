// SPDX-License-Identifier: Apache-2.0
// The construction of 000 Theorem 1 (swaps of the values of two keys) as one sequence, and what its reads should
// return.
//
//   n writes        write the value i + 1 at k_i, so every right read is an integer
//   the swaps       k = k_a - k_b with v = 0, which exchanges the values of a and b
//   n reads         write nothing (alpha = beta = 0, k = 0) and read every key in turn
//
// Every earlier step also reads one random key: its q is this key. Reads write nothing.
#pragma once
#include "harness/numerics/keys.hpp"
#include "theory/support/delta_recursion.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
enum class Order {
  later_minus_earlier, // the theorem's
  any, // either order; every third exchange undoes the previous one with the opposite key: k_t . k_{t-1} = -2
};

struct SwapStory {
  Sequence sequence; // one head, Dv = 1, beta = alpha = 1
  Vector target;     // [T] what the read at each step should return
  Vector before;     // [T] what the read would return if each step read before it wrote
  Vector values;     // [n] the value of each key at the end
};

/// Two different elements of n, by the numbers `at` and `at` + 1 of a stream.
inline std::pair<int, int> two_of(const Stream &draws, size_t at, int n) {
  const int x = int(draws.below(at, n));
  return {x, (x + 1 + int(draws.below(at + 1, n - 1))) % n};
}

/// One set of keys, [n,d].
inline Dense key_rows(const KeySet &set, std::uint64_t seed) { return Dense(set.n, set.d, make_keys(set, 1, seed)); }
inline double coherence(const Dense &keys) { return recollect::coherence(keys.data, keys.rows, keys.columns); }

// Sets of keys that satisfy Assumption 1 of Theorem 1; others are refused.
inline const KeySet leaning{"equicorrelated", 10, 10, 0.12}; // coherence just under 1/8

inline Params describe(const KeySet &keys) { return labels({{"keys", keys.kind}, {"n", keys.n}, {"d", keys.d}}); }

inline std::vector<ParamSpec> key_params(int swaps) {
  return {integer_param("n", 10, 2, 4096, "elements"), integer_param("d", 10, 1, 4096, "key width"),
          integer_param("swaps", swaps, 1, 100000, "exchanges"), keys_param("equicorrelated"),
          real_param("cosine", 0.12, -1, 1, "inner product of equicorrelated keys")};
}
inline KeySet keys_of(const Params &p) { return {p.text("keys"), p.integer("n"), p.integer("d"), p.real("cosine")}; }

/// The keys of this set. Usage error if they violate Assumption 1.
inline Dense keys_at(const KeySet &keys, std::uint64_t seed) {
  const Dense rows = key_rows(keys, seed);
  if (!(coherence(rows) < 0.125))
    usage_error("Theorem 1 asks for unit keys of coherence below 1/8; at " + describe(keys).str() + " it is " +
                number(coherence(rows)));
  return rows;
}

/// The sequence for the keys [n,d]. `sign` = -1 gives the theorem's keys k_a - k_b, +1 gives k_a + k_b.
inline SwapStory tell_swaps(const Dense &keys, int swaps, std::uint64_t seed, Order order = Order::later_minus_earlier,
                            double sign = -1) {
  const int n = keys.rows, d = keys.columns, T = 2 * n + swaps;
  SwapStory story;
  Sequence &s = story.sequence;
  s.shape = {1, 1, T, d, 1};
  s.k.assign(size_t(T) * d, 0.0), s.q = s.k, s.v.assign(T, 0.0);
  s.beta.assign(T, 1.0), s.alpha.assign(T, 1.0);
  const Stream pairs(seed, "swaps/pairs"), reads(seed, "swaps/reads");
  for (int i = 0; i < n; ++i) story.values.push_back(i + 1);
  for (int t = 0, a = 0, b = 0; t < T; ++t) {
    int asked = int(reads.below(t, std::min(t + 1, n)));
    const auto fill = [&](Vector &row, int i, double factor) {
      for (int c = 0; c < d; ++c) row[size_t(t) * d + c] += factor * keys(i, c);
    };
    double before = story.values[asked];
    if (t < n) {
      fill(s.k, t, 1);
      s.v[t] = t + 1;
      if (asked == t) before = 0;
    } else if (t < n + swaps) {
      if (order == Order::any && (t - n) % 3 == 2) {
        std::swap(a, b);
      } else {
        const auto [x, y] = two_of(pairs, 3 * size_t(t), n);
        a = std::max(x, y), b = std::min(x, y);
        if (order == Order::any && pairs.bits(3 * size_t(t) + 2) & 1) std::swap(a, b);
      }
      fill(s.k, a, 1), fill(s.k, b, sign);
      std::swap(story.values[a], story.values[b]);
    } else {
      s.alpha[t] = s.beta[t] = 0;
      asked = t - n - swaps, before = story.values[asked];
    }
    fill(s.q, asked, 1);
    story.target.push_back(story.values[asked]);
    story.before.push_back(before);
  }
  return story;
}

/// Four unit keys with (k1 - k2) . (k3 - k4) = 4 eps < 2, the worst case under Assumption 1. They are the rows of a
/// Cholesky factor of their Gram matrix.
inline Dense worst_keys(double eps) {
  Dense gram = Dense::identity(4);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) gram(i, 2 + j) = gram(2 + j, i) = i == j ? eps : -eps;
  return cholesky(gram);
}

/// f of Assumption 2 and nothing more: round near -1, 0, 1, 2 and zero elsewhere.
inline double only_assumption_2(double x) { return x > -1.5 && x < 2.5 ? std::nearbyint(x) : 0; }

/// The reads of one head by the sums of Eq 41-42 with alpha = beta = 1, w = k and kappa1 = kappa2 = f. For functions f
/// that no layer has.
inline Vector reads_of_sums(const Sequence &s, const Kernel &f) {
  const Rows r(s);
  const Dense u = solve_unit_lower(causal_weights(r.k, r.k, f, Triangle::strict), r.v);
  return (causal_weights(r.k, r.q, f, Triangle::with_diagonal) * u).data;
}

/// Reads of the layer delta_former with one similarity for erase and read.
inline Vector reads_by(const std::string &kernel, const Sequence &s, const std::string &form = "chunked",
                       Real real = Real::f64) {
  const Variant &layer = find_variant("delta_former");
  return forward(layer, s, {form, real, 64, variant_params(layer, {{"kappa1", kernel}, {"kappa2", kernel}})}).o;
}
inline Vector reads_by_round(const SwapStory &story) { return reads_by("round", story.sequence); }

/// Requires every read to equal its integer target exactly. With f = round all quantities of Eq 41-42 are integers, and
/// floating-point sums and products of them are exact.
inline Point exactly_tracked(const Vector &reads, const SwapStory &story) {
  return exact_point(reads, story.target, 0);
}
/// exactly_tracked() for the reads of a story with f = round. The second overload makes the story, with `swaps`
/// exchanges of these keys.
inline Point tracked_by_round(const SwapStory &story) { return exactly_tracked(reads_by_round(story), story); }
inline Point tracked_by_round(const Dense &keys, int swaps, std::uint64_t seed) {
  return tracked_by_round(tell_swaps(keys, swaps, seed));
}

/// The sequence with one-hot values in place of the integers: value i is e_i.
inline Sequence with_one_hot_values(Sequence s, int n) {
  s.v.assign(size_t(s.shape.T) * n, 0.0), s.shape.Dv = n;
  for (int t = 0; t < n; ++t) s.v[size_t(t) * n + t] = 1;
  return s;
}
/// Share of the reads of steps n ... n + swaps - 1 whose largest channel is the right value; a tie counts as wrong.
inline double right_share(const Vector &reads, const SwapStory &story, int n, int swaps) {
  int right = 0;
  for (int t = n; t < n + swaps; ++t) {
    const double *o = &reads[size_t(t) * n], wanted = o[int(story.target[t]) - 1];
    right += std::count_if(o, o + n, [wanted](double x) { return !(x < wanted); }) == 1;
  }
  return double(right) / swaps;
}
} // namespace recollect::theory
