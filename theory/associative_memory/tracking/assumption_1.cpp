// SPDX-License-Identifier: Apache-2.0
// Assumption 1 of 000 Theorem 1: n unit keys with inner products of at most eps < 1/8. The claims: why the bound is
// 1/8, what happens at exactly 1/8, and whether random keys satisfy it at the sizes of §3.2.
#include "theory/associative_memory/tracking/packing.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
Claim threshold() {
  ClaimBuilder c("theorem1-eps-threshold", "000 Theorem 1, Assumption 1 (eps < 1/8)");
  c.says("Inner products of at most $eps < 1/8$ in size, with which $4 eps < 1/2$, suffice for $f$ = round to track "
         "every exchange.");
  c.exactly("The bound $1/8$ is sharp in the worst case, four keys with $(k1 - k2)$ . $(k3 - k4) = 4 eps$. It is not "
            "necessary for every set of keys: two keys with an inner product of 0.24 are tracked.");
  c.draws({"swap"}), c.runs({"delta_former"});
  c.takes({real_param("eps", 0.12, 1e-3, 0.49, "largest inner product of the worst four keys")});
  c.at({{{"eps", 0.1}}, {}, {{"eps", 0.1249}}});
  const auto tracked = [](const Dense &keys, std::uint64_t seed) { return tracked_by_round(keys, 200, seed); };
  const auto at = [](double eps, int n) { return labels({{"eps", eps}, {"n", n}}); };
  c.last([=](Points &points, const Protocol &protocol) {
    points.at(at(0.1251, 4))
        .wrong_system("the worst four keys with $eps = 0.1251$", tracked(worst_keys(0.1251), protocol.seed));
    points.at(at(0.2, 4)).wrong_system("the worst four keys with $eps = 0.2$", tracked(worst_keys(0.2), protocol.seed));
    if (protocol.point) return;
    const auto two = [&](double eps) {
      return tracked(key_rows({"equicorrelated", 2, 2, eps}, protocol.seed), protocol.seed);
    };
    points.at(at(0.24, 2)).obligation("every read of two keys with inner product 0.24", two(0.24));
    points.at(at(0.26, 2)).wrong_system("two keys with inner product 0.26, where $2 - 2 eps < 3/2$", two(0.26));
  });
  return measure(c, [=](Points &points, Seed seed, double eps) {
    if (eps >= 0.125) usage_error("Assumption 1 asks for eps < 1/8");
    const Dense k = worst_keys(eps);
    double reached = 0; // (k1 - k2) . (k3 - k4)
    for (int c = 0; c < 4; ++c) reached += (k(0, c) - k(1, c)) * (k(2, c) - k(3, c));
    points.at(at(eps, 4)).statement("every read of the worst four keys", tracked(k, seed));
    points.rounding(16)
        .obligation("$(k1 - k2) . (k3 - k4)$ of the worst four keys: $4 eps$", reached, 4 * eps)
        .but_not("$2 eps$ in place of $4 eps$", 2 * eps);
  });
}

Claim tie() {
  ClaimBuilder c("theorem1-tie-mode", "000 Theorem 1, Assumption 1 (strict)");
  c.says("Assumption 1 excludes a coherence of exactly $1/8$.");
  c.exactly("At $eps = 1/8$ the error $4 eps$ can be $1/2$, a tie: rounding half to even still tracks, rounding half "
            "away from zero does not. Below $1/8$ both do.");
  c.draws({"swap"}), c.runs({"delta_former"});
  return measure(c, [](Points &points, Seed seed) {
    const auto away = [](double x) { return std::round(x); };
    // Unit vectors e_1, e_2 and Hadamard rows with (e_1 - e_2) . (h_1 - h_2) = 4 / sqrt d, which is 1/2 at d = 64.
    for (const KeySet &set : {KeySet{"hadamard", 256, 128}, KeySet{"hadamard", 128, 64}}) {
      const Dense keys = key_rows(set, seed);
      const SwapStory story = tell_swaps(keys, 200, seed);
      const Point by_away = exactly_tracked(reads_of_sums(story.sequence, away), story);
      points.at(describe(set));
      set.d == 128 ? (void)points.statement("every read, rounding half away from zero, coherence below $1/8$", by_away)
                   : points.wrong_system("rounding half away from zero, coherence exactly $1/8$", by_away);
      points.obligation("every read, rounding half to even", tracked_by_round(story));
      points.rounding(4 * set.d)
          .obligation("coherence of the keys: $1/sqrt d$", coherence(keys), 1 / std::sqrt(double(set.d)))
          .but_not("$1/sqrt(d-1)$ in place of $1/sqrt d$", 1 / std::sqrt(set.d - 1.0));
    }
  });
}

Claim random_keys() {
  ClaimBuilder c("theorem1-random-keys", "000 §3.2 (d = 128; n = 128, 256, 512), E.2");
  c.says("Stricter reading: unit keys drawn at random satisfy Assumption 1 at the sizes of the stress test.");
  c.is_refuted(stricter(
      "§3.2: 'we adopted the almost orthogonal vectors used in our Theorem 1'; E.2: $2^{cd}$ such vectors exist.",
      "$d = 128$, $n = 128$, 256, 512; the vectors satisfy Assumption 1",
      "The text does not say how the vectors were made, and does not say that random vectors suffice."));
  c.exactly(
      "At $d = 128$ the coherence of random keys is 0.3 to 0.4, and about a fifth of the reads are wrong. Random keys "
      "need a width of about $256 ln n$. Identity and Hadamard rows have a coherence of 0.0884 at $n = 256$.");
  c.because("The theorem holds if its premise does. The paper does not say how its almost orthogonal vectors were "
            "made. Random keys are not sufficient at these sizes. A structured set of keys is sufficient, and so are "
            "random keys of a width of about $256 ln n$.");
  c.draws({"swap"}), c.runs({"delta_former"});
  c.takes({integer_param("n", 128, 8, 1024, "elements and swaps"), key_width_param(128, 4, 4096)});
  c.at({{}, {{"n", 256}}, {{"n", 512}}});
  c.last([](Points &points, const Protocol &protocol) {
    // At widths above 128, pairs with |k_i.k_j| > 1/8 are too rare.
    const int d = protocol.point ? protocol.point->integer("d") : 128;
    if (share_beyond(0.125, d) > 0.02) {
      const KeySet many{"unit", protocol.full() ? 3000 : 800, d};
      const auto [share, law] = pairs_beyond(key_rows(many, protocol.seed), 0.125);
      points.at(describe(many))
          .obligation("share of pairs of random keys with an inner product above $1/8$ in size", share, law)
          .but_not("the bound $2 exp(-d eps^2 / 2)$", 2 * std::exp(-d / 128.0))
          .but_not("$d-8$ in place of $d$", share_beyond(0.125, d - 8));
    }
    const auto tracked = [&](const KeySet &set) {
      return tracked_by_round(key_rows(set, protocol.seed), 200, protocol.seed);
    };
    // At this width, a set of keys violates Assumption 1 with a probability below 10^-10.
    const KeySet wide{"unit", 16, int(std::ceil(random_width(16, 1e-10)))}, structured{"hadamard", 256, 128},
        random{"unit", 256, 128};
    points.at(describe(wide))
        .obligation("every read, random keys of width $d = 128 ln(n (n-1) / 1e-10)$", tracked(wide));
    points.at(describe(structured)).obligation("every read, identity and Hadamard rows as keys", tracked(structured));
    points.at(describe(random)).wrong_system("random keys in place of Hadamard rows", tracked(random));
  });
  return measure(c, [](Points &points, Seed seed, int n, int d) {
    const KeySet set{"unit", n, d};
    const Dense keys = key_rows(set, seed);
    if (coherence(keys) < 0.125)
      usage_error("at " + describe(set).str() +
                  " the random keys drawn do satisfy Assumption 1: there is nothing to refute");
    points.at(describe(set))
        .statement("coherence of random keys, below $1/8$", at_most_point(coherence(keys), 0.125, 0));
    points.statement("every read, random keys", tracked_by_round(keys, set.n, seed));
  });
}
} // namespace

std::vector<Claim> assumption_1() { return {threshold(), tie(), random_keys()}; }
} // namespace recollect::theory
