// SPDX-License-Identifier: Apache-2.0
// 000 Lemma 1 (E.1.1), on which the proof of Theorem 1 rests: f is linear on differences of almost orthogonal keys.
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
/// Both sides of the lemma for all i, j and l. For orthonormal keys the argument of f on the left side is an integer;
/// `strayed` is the largest distance of the argument from this integer.
struct Lemma {
  Vector left, right;
  double strayed[4] = {}; // divided by eps, around 0, 1, -1, 2
};

Lemma both_sides(const Dense &keys, const Kernel &f, bool later_first = true) {
  const int n = keys.rows, d = keys.columns;
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) later_first ? pairs.emplace_back(i, j) : pairs.emplace_back(j, i);
  Dense all(n + int(pairs.size()), d); // the keys, then their differences (later key minus earlier key)
  for (int l = 0; l < all.rows; ++l)
    for (int c = 0; c < d; ++c) {
      const auto [i, j] = l < n ? std::pair(l, l) : pairs[l - n];
      all(l, c) = l < n ? keys(l, c) : keys(std::max(i, j), c) - keys(std::min(i, j), c);
    }
  const Dense gram = all * transpose(all);
  const double eps = coherence(keys), sign = later_first ? 1 : -1;
  Lemma lemma;
  for (size_t p = 0; p < pairs.size(); ++p)
    for (int l = 0; l < all.rows; ++l) {
      const auto [i, j] = pairs[p];
      const double argument = sign * gram(n + int(p), l), ideal = std::nearbyint(argument);
      lemma.left.push_back(f(argument));
      lemma.right.push_back(f(gram(i, l)) - f(gram(j, l)));
      // Not one of the four integers: these keys violate the premise of the lemma.
      if (ideal < -1 || ideal > 2) continue;
      double &strayed = lemma.strayed[ideal < 0 ? 2 : ideal == 2 ? 3 : int(ideal)];
      strayed = std::max(strayed, std::fabs(argument - ideal) / eps);
    }
  return lemma;
}

/// Adds points that compare both sides of the lemma on every triple of these keys.
void of_keys(Points &points, const Dense &keys, Params place) {
  const Lemma both = both_sides(keys, only_assumption_2), other = both_sides(keys, only_assumption_2, false),
              round = both_sides(keys, round_kernel);
  points.at(place).rounding(0).statement("both sides of the lemma, f of Assumption 2 only", both.left, both.right);
  points.wrong_system("the lemma with $j > i$ in place of $j < i$", other.left, other.right);
  points.statement("both sides of the lemma, f = round", round.left, round.right);
  points.obligation("coherence of the keys, below $1/8$", at_most_point(coherence(keys), 0.125, 0));
  // The rounding error of an inner product of width d and norms up to sqrt 2 is 2 d units.
  const double widest[] = {4, 3, 3, 2}, rounding = 8 * keys.columns * epsilon_of(Real::f64) / coherence(keys);
  const char *stands_for[] = {"0", "1", "-1", "2"};
  for (int x = 0; x < 4; ++x)
    points.at(place.set("around", stands_for[x]))
        .obligation("largest distance of the argument of f from its integer, divided by $eps$",
                    at_most_point(both.strayed[x], widest[x], rounding));
}

Claim identity() {
  ClaimBuilder c("lemma1", "000 Lemma 1, Appendix E.1.1");
  c.says("Under the premises of Theorem 1, $f((k_i - k_j) . k_l) = f(k_i . k_l) - f(k_j . k_l)$ for $j < i <= n$ and "
         "every $l$, where $k_l$ is a key or a difference of two keys, the later one minus the earlier one.");
  c.exactly("An identity. The argument of $f$ on the left is within $4 eps$ of 0, within $3 eps$ of +-1, or within $2 "
            "eps$ of 2. The distance $4 eps$ is attained.");
  c.takes(key_params(1)), c.at(std::vector<Changes>{});
  c.also([](Points &points, const Protocol &protocol) {
    // Of the 140 vectors, the last 24 are twelve of each of the two bases.
    const Dense whole = key_rows({"hadamard", 140, 128}, protocol.seed), worst = worst_keys(0.12),
                random = key_rows({"unit", 24, 16}, protocol.seed);
    of_keys(points, {24, 128, {whole.data.end() - 24 * 128, whole.data.end()}}, describe({"hadamard", 24, 128}));
    of_keys(points, key_rows({"equicorrelated", 24, 24, 0.12}, protocol.seed), describe({"equicorrelated", 24, 24}));
    of_keys(points, worst, describe({"worst case", 4, 4}));
    points.at(describe({"worst case", 4, 4})).rounding(8 * 4 / 0.12);
    points
        .obligation("largest distance of the argument of f from 0, divided by $eps$: 4",
                    both_sides(worst, round_kernel).strayed[0], 4)
        .but_not("2 in place of 4", 2);
    const Lemma lost = both_sides(random, round_kernel);
    points.at(describe({"unit", 24, 16})).rounding(0).wrong_system("random keys", lost.left, lost.right);
  });
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    if (p.integer("n") > 40) usage_error("the lemma is checked on every triple of keys: take n <= 40");
    const Dense keys = keys_at(keys_of(p), protocol.seed);
    if (coherence(keys) < 1e-6)
      usage_error("with orthonormal keys every argument is an integer: take a coherence above 0");
    of_keys(points, keys, describe(keys_of(p)));
  });
}
} // namespace

std::vector<Claim> lemma_1() { return {identity()}; }
} // namespace recollect::theory
