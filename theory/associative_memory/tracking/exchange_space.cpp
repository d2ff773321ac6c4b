// SPDX-License-Identifier: Apache-2.0
// The space that a layer needs to track exchanges (000 E.3). A cache of keys and u, whose values are read and written
// again every n exchanges, is compared with the n x n state of the linear kernel. The stored numbers are counted on
// running layers.
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
/// After every `period` exchanges (0: never) all values are read and written again: into an empty cache, or added to
/// the old cache.
struct Keeping {
  int period;
  bool emptied = true;
};

struct Kept {
  Vector values, truth; // values at the end, by key
  int longest = 0;      // largest number of entries in the cache
};

/// delta_former with f = round keeps n values while they are exchanged. At the end, one step per key reads the key's
/// value.
Kept exchange(const Dense &keys, int swaps, Keeping keeping, std::uint64_t seed) {
  const int n = keys.rows, d = keys.columns;
  const SwapStory story = tell_swaps(keys, swaps, seed);
  Vector k = keys.data, v;
  for (int i = 0; i < n; ++i) v.push_back(i + 1);
  const auto read_all = [&] {
    const int entries = int(v.size()), T = entries + n;
    Sequence s = of_shape({1, 1, T, d, 1});
    s.k = k, s.v = v;
    s.k.resize(size_t(T) * d, 0.0), s.v.resize(T, 0.0), s.q.assign(size_t(entries) * d, 0.0);
    s.q.insert(s.q.end(), keys.data.begin(), keys.data.end());
    s.alpha.assign(T, 0.0), s.beta.assign(T, 0.0);
    std::fill_n(s.alpha.begin(), entries, 1.0), std::fill_n(s.beta.begin(), entries, 1.0);
    const Vector o = reads_by("round", s);
    return Vector(o.end() - n, o.end());
  };
  Kept kept;
  for (int swap = 0; swap < swaps; ++swap) {
    const auto step = story.sequence.k.begin() + size_t(n + swap) * d;
    k.insert(k.end(), step, step + d), v.push_back(0);
    kept.longest = std::max(kept.longest, int(v.size()));
    if (keeping.period == 0 || (swap + 1) % keeping.period) continue;
    const Vector now = read_all();
    if (keeping.emptied) k.clear(), v.clear();
    k.insert(k.end(), keys.data.begin(), keys.data.end()), v.insert(v.end(), now.begin(), now.end());
    kept.longest = std::max(kept.longest, int(v.size()));
  }
  kept.values = read_all(), kept.truth = story.values;
  return kept;
}

Claim rewriting() {
  ClaimBuilder c("e3-rewrite", "000 E.3");
  c.says("Tracking $T$ exchanges takes a cache of length $T$; reading all $n$ values every $O(n)$ steps and writing "
         "them anew keeps it at length $O(n)$.");
  c.exactly("If all values are rewritten every $n$ exchanges, the cache never has more than $2 n$ entries, which are "
            "$2 n (d_k + d_v)$ numbers, and every value is exact. Without rewriting the cache has $n + T$ entries.");
  c.draws({"swap"}), c.runs({"delta_former"});
  c.takes({integer_param("n", 16, 3, 64, "elements, of cosine 0.12"),
           integer_param("swaps", 160, 1, 2000, "exchanges, a multiple of n")});
  return measure(c, [](Points &points, const Protocol &protocol, int n, int few) {
    const int swaps = few * (protocol.full() ? 10 : 1);
    if (swaps % n || swaps < 3 * n) usage_error("the exchanges must be a multiple of n, three times n at least");
    const KeySet leaning{"equicorrelated", n, n, 0.12}, random{"unit", n, n};
    const auto kept = [&](const KeySet &set, Keeping keeping) {
      return exchange(key_rows(set, protocol.seed), swaps, keeping, protocol.seed);
    };
    const Kept rewritten = kept(leaning, {n}), never = kept(leaning, {0}), lost = kept(random, {n});
    points.at({{"n", n}, {"swaps", swaps}}).rounding(0);
    points.statement("values at the end, against the exact ones", rewritten.values, rewritten.truth);
    points.wrong_system("random keys, whose coherence is above $1/8$", lost.values, lost.truth);
    points.statement("entries of the cache at its longest: $2 n$", rewritten.longest, 2 * n);
    points.wrong_system("no rewriting", never.longest, 2 * n);
    points.wrong_system("rewriting every $n + 1$ exchanges", kept(leaning, {n + 1}).longest, 2 * n);
    points.wrong_system("rewriting without emptying the cache", kept(leaning, {n, false}).longest, 2 * n);
    points
        .statement("numbers of the cache at its longest: $2 n (d_k + d_v)$, $d_v = 1$", rewritten.longest * (n + 1.0),
                   2 * n * (n + 1))
        .but_not("n entries in place of $2 n$", n * (n + 1));
    points.obligation("entries of the cache without rewriting: $n + T$", never.longest, n + swaps);
  });
}

/// The smallest n >= 3 with numbers(n) < n^2.
template <class Numbers> double narrower_from(const Numbers &numbers) {
  double n = 3;
  while (numbers(n) >= n * n) ++n;
  return n;
}

/// The larger root of n = a ln n, by Newton's method from above.
double root_of(double a) {
  double n = 4 * a * std::log(a);
  for (int i = 0; i < 50; ++i) n -= (n - a * std::log(n)) / (1 - a / n);
  return n;
}

/// The numbers in the state of delta_net, which exchanges by reflections, for n orthonormal keys and values of width
/// dv.
double linear_state(int n, int dv) {
  const Sequence s = stored({1, 1, n, n, dv}, Dense::identity(n).data, Vector(size_t(n) * dv, 1.0));
  return double(run("delta_net", s).state.size());
}

Claim space() {
  ClaimBuilder c("e3-space", "000 E.3");
  c.says("With $d = O(log n)$ the cache has $O(n log n)$ numbers, much less than the $O(n^2)$ numbers that the "
         "identity as $f$ needs.");
  c.holds_asymptotically();
  c.exactly("With $d_v = d_k$ in both memories the cache has $2 n$ entries of $2 d$ numbers, and the state has $n^2$ "
            "numbers. For random keys of width $d = 256 ln n$ the cache is smaller from $n = 9365$ on. For identity "
            "and Hadamard rows at $n = 2 d$ the cache takes $2 n^2$ numbers.");
  c.because("The paper assumes equal widths of keys and values (its footnote 12), and also compares with the 5 x 5 "
            "matrix of other work, which is far smaller than any such cache. If values are only as wide as $n$ "
            "different values need, the order is reversed (e3_space_value_width).");
  c.runs({"delta_former", "delta_net"}), c.takes({integer_param("n", 16, 4, 256, "elements")});
  c.last([](Points &points, const Protocol &) {
    const auto width = [](double m) { return 256 * std::log(m); };
    for (double m : {1e4, 1e6, 1e8})
      points.at({{"n", m}})
          .limit("numbers of the cache, $4 n d$ with $d = 256 ln n$, at most $n^2$",
                 at_most_point(2 * m * 2 * width(m), m * m, 0));
    points.at({{"n", 5e3}})
        .wrong_system("numbers of the cache at $n = 5000$, at most $n^2$",
                      at_most_point(2 * 5e3 * 2 * width(5e3), 5e3 * 5e3, 0));
    points.at({{"d", "256 ln n"}})
        .obligation("smallest n from which on the cache is smaller than the state",
                    narrower_from([&](double m) { return 2 * m * 2 * width(m); }), std::ceil(root_of(4 * 256)))
        .but_not("n entries in place of $2 n$, and u not counted", std::ceil(root_of(256)))
        .but_not("u not counted", std::ceil(root_of(2 * 256)));
  });
  return measure(c, [](Points &points, Seed seed, int n) {
    // The cache of a run with n keys of cosine 0.12 in d = n dimensions, compared with the state of delta_net.
    const Kept kept = exchange(key_rows({"equicorrelated", n, n, 0.12}, seed), 3 * n, {n}, seed);
    const double cache = kept.longest * 2.0 * n, state = linear_state(n, n);
    points.at({{"n", n}, {"d", n}});
    points.statement("numbers of the cache, at most those of the state", at_most_point(cache, state, 0));
    points.rounding(0)
        .obligation("numbers of the cache: $4 n d$", cache, 2.0 * n * 2 * n)
        .but_not("$n (d_k + d_v)$", n * 2.0 * n);
    points.obligation("numbers of the state: $n^2$", state, double(n) * n).but_not("$n (n-1)$", n * (n - 1.0));
  });
}

Claim value_width() {
  ClaimBuilder c("e3-space-value-width", "000 E.3");
  c.says("Stricter reading: the cache takes much less space than the linear kernel's state, even if the values in both "
         "memories are only as wide as they need to be.");
  c.is_refuted(stricter(
      "E.3: a cache of $O(n log n)$ 'is much smaller than the $O(n^2)$ space when $f$ is an identity mapping'.",
      "$d = O(log n)$; footnote 12: one width for keys and values",
      "The comparison is made at $d_v = d_k$ for both memories, where it is fair (e3_space)."));
  c.exactly("$n$ different values need only $d_v = ceil(log2 n)$ channels. The linear state then has $n d_v$ numbers, "
            "which is $O(n log n)$ as well. The cache is larger at every $n$, by the factor $2 (d_k + d_v) / d_v$, "
            "which is 34 at $n = 256$, $d = 128$. The state has $n^2$ numbers only if $d_v = n$.");
  c.because("The text counts the state at $d_v = d_k = n$ and the cache at $d_v = d_k = d$.");
  c.runs({"delta_former", "delta_net"}), c.takes({integer_param("n", 256, 128, 256, "elements, a power of two")});
  return measure(c, [](Points &points, Seed seed, int n) {
    const int d = 128, dv = int(std::ceil(std::log2(n)));
    if (n & (n - 1)) usage_error("n must be a power of two");
    const auto exchanged = [&](const char *kind) { return exchange(key_rows({kind, n, d}, seed), n, {n}, seed); };
    const Kept kept = exchanged(n > d ? "hadamard" : "orthonormal"), lost = exchanged("unit");
    const double cache = kept.longest * double(d + dv), state = linear_state(n, dv);
    points.at({{"n", n}, {"d", d}, {"dv", dv}});
    points.statement("numbers of the cache, at most those of the state", at_most_point(cache, state, 0));
    points.rounding(0).obligation("values at the end, against the exact ones", kept.values, kept.truth);
    points.wrong_system("random keys", lost.values, lost.truth);
    points.rounding(4 * cache / state)
        .obligation("numbers of the cache / numbers of the state: $2 (d_k + d_v) / d_v$", cache / state,
                    2.0 * (d + dv) / dv)
        .but_not("keys not counted", 2)
        .but_not("n entries in place of $2 n$", (d + dv) / double(dv));
    const double wide = linear_state(n, n), wide_cache = kept.longest * double(d + n);
    points.wrong_system("entries counted in place of numbers", at_least_point(double(kept.longest), wide, 0));
    points.at({{"n", n}, {"d", d}, {"dv", n}})
        .obligation("numbers of the cache with $d_v = n$ in both memories, at least those of the state",
                    at_least_point(wide_cache, wide, 0));
  });
}
} // namespace

std::vector<Claim> exchange_space() { return {rewriting(), space(), value_width()}; }
} // namespace recollect::theory
