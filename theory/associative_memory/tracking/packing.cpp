// SPDX-License-Identifier: Apache-2.0
// How many almost orthogonal keys fit (000 E.2, Assumption 1 at eps = 1/8): random keys, structured keys, and a set of
// the largest size in the stress test, found by descent.
#include "theory/associative_memory/tracking/packing.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
Params sized(double n, double d) { return labels({{"n", n}, {"d", d}}); }

/// Whether the coherence is strictly below 1/8.
Point below_an_eighth(double coherence) { return at_most_point(coherence, std::nextafter(0.125, 0), 0); }

/// The coordinates of n random directions are added one by one. Returns the smallest width from which on the directions
/// are almost orthogonal.
double width_needed(int n, std::uint64_t seed, int draw) {
  const int most = int(2 * random_width(n));
  const Vector x = Stream(seed, "packing/directions", std::uint64_t(n) << 32 | draw).normals(size_t(n) * most);
  Dense gram(n, n);
  int needed = 1;
  for (int d = 0; d < most; ++d) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) gram(i, j) += x[size_t(d) * n + i] * x[size_t(d) * n + j];
    bool close = false;
    for (int i = 0; i < n && !close; ++i)
      for (int j = 0; j < i && !close; ++j) close = gram(i, j) * gram(i, j) >= gram(i, i) * gram(j, j) / 64;
    if (close) needed = d + 2;
  }
  return needed;
}

Mean mean_width_needed(int n, const Protocol &protocol) {
  Vector widths;
  const int draws = std::max(12, 800 / n) * (protocol.full() ? 4 : 1);
  for (int draw = 0; draw < draws; ++draw) widths.push_back(width_needed(n, protocol.seed, draw));
  return mean_of(widths);
}

/// The smallest n > 2 with n > width(n).
template <class Width> double overtaken(const Width &width) {
  double n = 3;
  while (n <= width(n)) ++n;
  return n;
}

Claim random_sets() {
  ClaimBuilder c("packing-random", "000 E.2, Theorem 5.2.1 of its [50]");
  c.says("$2^{cd}$ unit vectors with inner products in $[alpha - eps, alpha + eps]$ exist in $d$ dimensions, so that "
         "Assumption 1 requires $d = O(log n)$.");
  c.exactly("For random keys $d > 2 ln(n (n-1)) / eps^2$ suffices, which is about $256 ln n$ at $eps = 1/8$. This is "
            "less than $n$, the width of an orthonormal basis, from $n = 1938$ on. The inner product of two random "
            "directions exceeds $eps$ with probability at most $2 exp(-d eps^2 / 2)$.");
  c.because("The text says 'required', but the theorem that it cites is about sufficiency. The constant is large: at "
            "the sizes of the experiments an orthonormal basis is narrower. Structured sets are the practical choice "
            "(packing_structured).");
  c.holds_asymptotically(), c.takes({integer_param("n", 64, 8, 200, "keys")}), c.at({{{"n", 16}}, {}});
  const auto width_of_random_keys = [](Points &points, const Params &p, const Protocol &protocol) {
    const int n = p.integer("n");
    const Mean width = mean_width_needed(n, protocol);
    points.at(p).statement("width that random keys need, at most n, the width of a basis", at_most_point(width, n));
    auto bound = points.limit("width that random keys need, at most $2 ln(n (n-1)) / eps^2$",
                              at_most_point(width, random_width(n)));
    if (n < 32 || protocol.full()) // otherwise the draws are too few to refute this rival
      bound.but_not("$ln n$ in place of $ln(n (n-1))$", random_width(n) / 2);
    bound.but_not("128 in place of the bound", 128);
  };
  c.also([width_of_random_keys](Points &points, const Protocol &protocol) {
    if (protocol.full()) width_of_random_keys(points, labels({{"n", 128}}), protocol);
    // The width grows as the logarithm of the number of pairs, not as n.
    const double ratio = mean_width_needed(64, protocol).mean / mean_width_needed(16, protocol).mean;
    points.at({{"n", 64}})
        .limit("width that random keys need at $n = 64$ / at $n = 16$, at most 2", at_most_point(ratio, 2, 0));
    points.wrong_system("the width of an orthonormal basis", at_most_point(64 / 16.0, 2, 0));
  });
  c.last([](Points &points, const Protocol &protocol) {
    for (int d : {128, 512}) {
      const int n = protocol.full() ? 3000 : 1000;
      const auto [measured, law] = pairs_beyond(key_rows({"unit", n, d}, protocol.seed), 0.125);
      auto bound = points.at(sized(n, d))
                       .obligation("share of inner products above $1/8$ in size, at most $2 exp(-d eps^2 / 2)$",
                                   at_most_point(measured, 2 * std::exp(-d / 128.0)));
      if (d == 512) bound.but_not("$2 exp(-d eps^2)$ in place of $2 exp(-d eps^2 / 2)$", 2 * std::exp(-d / 64.0));
      if (d == 512) continue; // at this width such pairs are too rare to be measured to a few per cent
      points
          .obligation("share of inner products above $1/8$ in size, against the area of a spherical cap", measured, law)
          .but_not("the bound $2 exp(-d eps^2 / 2)$", 2 * std::exp(-d / 128.0))
          .but_not("$d-8$ in place of $d$", share_beyond(0.125, d - 8));
    }
    points.at({{"eps", 0.125}}).rounding(0);
    points
        .obligation("smallest n that is larger than the width that n random keys need",
                    overtaken([](double n) { return random_width(n); }), 1938.0)
        .but_not("the n for $eps = 1/4$", overtaken([](double n) { return random_width(n) / 4; }));
  });
  return c.measure(width_of_random_keys);
}

Claim structured_sets() {
  ClaimBuilder c("packing-structured", "000 E.2, §3.2");
  c.says("More than $d$ unit vectors of $d$ dimensions can have inner products below $1/8$ in size.");
  c.exactly("The standard basis and the Hadamard rows divided by $sqrt d$ are $2 d$ vectors with coherence exactly "
            "$1/sqrt d$, below $1/8$ for $d > 64$. Every set of $n$ vectors has a coherence of at least $sqrt((n-d) / "
            "(d (n-1)))$ (Welch).");
  c.takes({integer_param("d", 128, 128, 1024, "key width, a power of two")}), c.at({{}, {{"d", 256}}});
  c.last([](Points &points, const Protocol &protocol) {
    // The regular simplex of 10 vectors, in 9 dimensions, attains Welch's bound.
    const double simplex = coherence(key_rows({"equicorrelated", 10, 10, -1 / 9.0}, protocol.seed));
    points.at(sized(10, 9)).rounding(16);
    points.obligation("coherence of the regular simplex, against Welch's bound", simplex, welch(10, 9))
        .but_not("$n$ in place of $n - 1$", std::sqrt(1 / (9 * 10.0)));
  });
  return measure(c, [](Points &points, Seed seed, int d) {
    const auto rows = [&](int d) { return key_rows({"hadamard", 2 * d, d}, seed); };
    const int n = 2 * d;
    const double found = coherence(rows(d));
    points.at(sized(n, d))
        .rounding(4 * d)
        .statement("coherence of the 2 d identity and Hadamard rows, below $1/8$", below_an_eighth(found));
    points.at(sized(128, 64)).wrong_system("the 128 rows for $d = 64$", below_an_eighth(coherence(rows(64))));
    points.at(sized(n, d));
    points.obligation("coherence of the 2 d identity and Hadamard rows: $1/sqrt d$", found, 1 / std::sqrt(d))
        .but_not("$1/sqrt(d-1)$ in place of $1/sqrt d$", 1 / std::sqrt(d - 1.0));
    const auto above_welch = [&](double coherence) { return at_least_point(coherence, welch(n, d), 0); };
    points.obligation("coherence, at least Welch's bound", above_welch(found));
    points.wrong_system("vectors of norm $1/2$", above_welch(coherence(0.5 * rows(d))));
  });
}

Claim optimised_set() {
  ClaimBuilder c("packing-optimised-512-128", "000 §3.2 (d = 128, n = 512)");
  c.says("At the largest size of the stress test, 512 keys of width 128, an almost orthogonal set as in Theorem 1 "
         "exists.");
  c.exactly("Descent from random keys found such a set. Its coherence is below $1/8$, and every exchange is tracked. "
            "By Welch's bound the coherence is at least 0.0766.");
  c.runs({"delta_former"}), c.draws({"swap"});
  c.takes({integer_param("n", 512, 16, 512, "keys"), key_width_param(128, 8, 256)});
  return measure(c, [](Points &points, Seed seed, const Params &p, int n, int d) {
    if (n <= d) usage_error("for n <= d an orthonormal basis is such a set");
    if (welch(n, d) >= 0.125) usage_error("Welch's bound leaves no such set at " + p.str());
    const Dense random = key_rows({"unit", n, d}, seed), keys = key_rows({"packed", n, d, 0.1245}, seed);
    if (coherence(random) < 0.125) usage_error("at " + p.str() + " random keys will do");
    const auto tracked = [&](const Dense &rows) { return tracked_by_round(rows, 300, seed); };
    const auto above_welch = [&](const Dense &rows) { return at_least_point(coherence(rows), welch(n, d), 0); };
    points.statement("coherence of the set found by descent, below $1/8$", below_an_eighth(coherence(keys)));
    points.wrong_system("random keys", below_an_eighth(coherence(random)));
    points.statement("every read over 300 exchanges", tracked(keys));
    points.wrong_system("random keys", tracked(random));
    points.obligation("coherence, at least Welch's bound", above_welch(keys));
    points.wrong_system("vectors of norm $1/2$", above_welch(0.5 * keys));
  });
}

/// The keys sqrt(alpha) e_0 + sqrt(1 - alpha) h_i, with inner products alpha + (1 - alpha) h_i . h_j.
Dense shifted(const Dense &h, double alpha) {
  Dense keys(h.rows, h.columns + 1);
  for (int i = 0; i < h.rows; ++i) {
    keys(i, 0) = std::sqrt(alpha);
    for (int c = 0; c < h.columns; ++c) keys(i, c + 1) = std::sqrt(1 - alpha) * h(i, c);
  }
  return keys;
}

Claim alpha_and_epsilon() {
  ClaimBuilder c("alpha-eps-choice", "000 E.2");
  c.says("$alpha = 0.01$ and $eps = 0.1$ give unit vectors with inner products in $[alpha - eps, alpha + eps]$, at "
         "most $0.11 < 1/8$ in size.");
  c.exactly("The vectors $sqrt(alpha) e_0 + sqrt(1 - alpha) h_i$, where $h_i$ are the 256 identity and Hadamard rows "
            "and $d = 129$, have inner products from -0.0775 to 0.0975.");
  c.runs({"delta_former"}), c.draws({"swap"});
  c.takes({real_param("alpha", 0.01, 1e-3, 0.1, "centre of the inner products")});
  return measure(c, [](Points &points, Seed seed, double alpha) {
    const double eps = 0.1, root = 1 / std::sqrt(128.0);
    if (alpha + (1 - alpha) * root > alpha + eps || alpha + eps >= 0.125)
      usage_error("alpha + eps = " + number(alpha + eps) + " is not below 1/8");
    const Dense h = key_rows({"hadamard", 256, 128}, seed);
    const auto extremes = [&](double of) { // the least and the largest inner product
      const Dense keys = shifted(h, of), gram = keys * transpose(keys);
      double low = 1, high = -1;
      for (int i = 0; i < gram.rows; ++i)
        for (int j = 0; j < i; ++j) low = std::min(low, gram(i, j)), high = std::max(high, gram(i, j));
      return Vector{low, high};
    };
    const Vector range = extremes(alpha);
    points.at({{"alpha", alpha}, {"eps", eps}, {"n", 256}, {"d", 129}});
    const auto low_enough = [&](double largest) { return at_most_point(largest, alpha + eps, 0); };
    points.statement("largest inner product, at most $alpha + eps$", low_enough(range[1]));
    points.statement("smallest inner product, at least $alpha - eps$", at_least_point(range[0], alpha - eps, 0));
    points.wrong_system("$alpha = 0.05$", low_enough(extremes(0.05)[1]));
    points.statement("$alpha + eps$, below $1/8$", below_an_eighth(alpha + eps));
    points.wrong_system("$alpha + eps = 0.20$, for $alpha = 0.1$", below_an_eighth(0.1 + eps));
    const auto around = [&](double share) { return Vector{alpha - share * root, alpha + share * root}; };
    points.rounding(4 * 129);
    points.obligation("inner products: $alpha -+ (1 - alpha)/sqrt 128$", range, around(1 - alpha))
        .but_not("$alpha -+ 1/sqrt 128$", around(1));
    const auto tracked = [&](const Dense &keys) { return tracked_by_round(keys, 300, seed); };
    points.obligation("every read over 300 exchanges", tracked(shifted(h, alpha)));
    points.wrong_system("random keys", tracked(key_rows({"unit", 256, 129}, seed)));
  });
}
} // namespace

std::vector<Claim> packing() { return {random_sets(), structured_sets(), optimised_set(), alpha_and_epsilon()}; }
} // namespace recollect::theory
