// SPDX-License-Identifier: Apache-2.0
// What a state keeps of an old write (002 §2, 4-6). For a unit key k_1 and later keys drawn uniformly from the sphere,
// one DeltaNet write keeps k_1 . (I - beta k k^T) k_1 = 1 - beta (k . k_1)^2 of it, 1 - beta/d in the mean, and
// successive draws are independent: after m writes the mean is (1 - beta/d)^m, times alpha^m under a gate. Its second
// moment p follows from the keys' fourth moments, p' = p (1 - 2 beta/d + 2 beta^2/(d(d+2))) + F beta^2/(d(d+2)), F' = F
// (1 - 2 beta/d + beta^2/d), from p = F = 1: samples understate the spread of such a product, so the standard error is
// taken from there.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

constexpr int memories = 2000;

/// Memory b writes (k, 1) under key 0 and then 0 under the keys 1 ... m of its row; returns what each still reads at
/// key 0. keys [memories,distinct,d]; write t uses key 1 + (t - 1) mod (distinct - 1).
std::vector<double> retention(const std::string &variant, const std::vector<double> &keys, int distinct, int d, int m,
                              double beta, double alpha) {
  const int count = int(keys.size()) / (distinct * d);
  Sequence s;
  s.shape = {count, 1, m + 1, d, 1};
  for (int b = 0; b < count; ++b)
    for (int t = 0; t <= m; ++t) {
      const double *key = &keys[(size_t(b) * distinct + (t == 0 ? 0 : 1 + (t - 1) % (distinct - 1))) * d];
      s.k.insert(s.k.end(), key, key + d);
      s.v.push_back(t == 0);
      s.beta.push_back(t == 0 ? 1 : beta), s.alpha.push_back(t == 0 ? 1 : alpha);
    }
  s.q = s.k;
  const std::vector<double> state = forward(find_variant(variant), s, {"fast", Real::f64, 64, {}}).state;
  std::vector<double> kept(count);
  for (int b = 0; b < count; ++b)
    for (int c = 0; c < d; ++c) kept[b] += state[size_t(b) * d + c] * keys[size_t(b) * distinct * d + c];
  return kept;
}

Params labelled(const std::string &variant, const std::string &later, int d, int m, double beta, double alpha) {
  return labels({{"variant", txt(variant)},
                 {"later_keys", txt(later)},
                 {"d", num(d)},
                 {"writes", num(m)},
                 {"beta", num(beta)},
                 {"alpha", num(alpha)}});
}

/// Mean over memories against (alpha (1 - beta/d))^m. Retention lies in [-1, 1]; 2000 memories resolve 0.15 of it or
/// better.
Point among_random_keys(const std::string &variant, int d, int m, double beta, double alpha, std::uint64_t seed,
                        const std::string &tier) {
  const std::vector<double> kept =
      retention(variant, make_keys({"unit", m + 1, d}, memories, seed), m + 1, d, m, beta, alpha);
  double F = 1, p = 1;
  const double pairs = beta * beta / (d * (d + 2.0)), mean = std::pow(alpha * (1 - beta / d), m);
  for (int t = 0; t < m; ++t) {
    p = alpha * alpha * (p * (1 - 2 * beta / d + 2 * pairs) + F * pairs);
    F *= alpha * alpha * (1 - 2 * beta / d + beta * beta / d);
  }
  return at(
      sampled_point(mean_of(kept).mean, tier == "paper" ? 1 : mean, std::sqrt((p - mean * mean) / memories), 0.15),
      tier, labelled(variant, "unit", d, m, beta, alpha));
}

/// DeltaNet among `period` orthonormal keys written over and over: what is left is 1 - sum of period squared cosines,
/// of mean 1 - period/d and variance 2 period (d - period) / (d^2 (d + 2)), after one round and after any number.
Point among_repeated_keys(int d, int period, int m, std::uint64_t seed) {
  const int distinct = period + 1;
  std::vector<double> keys = make_keys({"orthonormal", distinct, d}, memories, seed),
                      old = Stream(seed, 97).normals(size_t(memories) * d);
  normalise_rows(old, d);
  for (int b = 0; b < memories; ++b) std::copy_n(&old[size_t(b) * d], d, &keys[size_t(b) * distinct * d]);
  const Mean mean = mean_of(retention("delta_net", keys, distinct, d, m, 1, 1));
  const double variance = 2.0 * period * (d - period) / (double(d) * d * (d + 2));
  return at(sampled_point(mean.mean, 1 - double(period) / d, std::sqrt(variance / memories), 0.15), "exact",
            labelled("delta_net", "repeated", d, m, 1, 1));
}

std::vector<Point> never_forgets(const Protocol &protocol) {
  std::vector<Point> points;
  if (protocol.point) {
    const Params &p = *protocol.point;
    for (const char *tier : {"paper", "corrected"})
      points.push_back(
          among_random_keys("delta_net", p.integer("d"), p.integer("writes"), p.real("beta"), 1, protocol.seed, tier));
    return points;
  }
  const int d = 16;
  points.push_back(among_random_keys("delta_net", d, d, 1, 1, protocol.seed, "paper"));
  for (double beta : {0.5, 1.0})
    for (int m : {4, d, 2 * d})
      points.push_back(among_random_keys("delta_net", d, m, beta, 1, protocol.seed, "corrected"));
  // All later keys orthogonal to the old one: there are at most d - 1 such directions.
  const std::vector<double> left =
      retention("delta_net", make_keys({"orthonormal", d, d}, 10, protocol.seed), d, d, 200, 1, 1);
  points.push_back(at(exact_point(max_difference(left, std::vector<double>(10, 1.0)), 0, 200.0 * 8 * d, 0.15),
                      "corrected", labelled("delta_net", "orthonormal", d, 200, 1, 1)));
  return points;
}

/// Largest spectral norm of S along T writes of one unit pair, v = 1 and unit key, decay alpha_t.
double largest_norm(int T, const std::function<double(int)> &alpha) {
  Sequence s;
  s.shape = {1, 1, T, 1, 1};
  s.k.assign(T, 1), s.q.assign(T, 1), s.v.assign(T, 1);
  for (int t = 0; t < T; ++t) s.alpha.push_back(alpha(t + 1));
  return max_abs(forward(find_variant("gated_linear"), s).o); // |S| = o for one channel
}

std::vector<Point> gating_bounds(const Protocol &protocol) {
  std::vector<Point> points;
  const Stream draw(protocol.seed, 98);
  for (double bar : {0.5, 0.9, 0.99}) {
    const double drawn = largest_norm(5000, [&](int t) { return bar * draw.uniform(t); }),
                 held = largest_norm(5000, [&](int) { return bar; });
    const double bound = 1 / (1 - bar), rounding = 64 * bound * bound * epsilon_of(Real::f64);
    points.push_back(at(
        bounded_point(drawn, Point::at_most, bound, rounding, bound / 100), "exact",
        labels({{"bar", num(bar)}, {"quantity", txt("largest |S|, alpha drawn below bar: max |v||k| / (1 - bar)")}})));
    points.push_back(
        at(exact_point(held / bound, 1, 64 * bound, 1e-3), "exact",
           labels({{"bar", num(bar)}, {"quantity", txt("largest |S| over the bound, alpha = bar throughout")}})));
  }
  // alpha_t = 1 - 1/(t+1)^2 lies in (0,1), and its products stay above 1/2: S grows like t. Exactly, the product from
  // j+1 to t is (j+1) (t+2) / ((j+2) (t+1)).
  for (int T : {100, 1000}) {
    double exact = 0;
    for (int j = 1; j <= T; ++j) exact += (j + 1.0) * (T + 2.0) / ((j + 2.0) * (T + 1.0));
    const double found = largest_norm(T, [](int t) { return 1 - 1 / std::pow(t + 1.0, 2); });
    points.push_back(at(exact_point(found / exact, 1, 8.0 * T, 1e-3), "boundary",
                        labels({{"T", num(T)}, {"quantity", txt("|S| over its law, alpha_t = 1 - 1/(t+1)^2")}})));
    points.push_back(at(bounded_point(found, Point::at_least, T / 2.0, 0, T / 100.0), "boundary",
                        labels({{"T", num(T)}, {"quantity", txt("|S|, alpha_t = 1 - 1/(t+1)^2: at least T / 2")}})));
  }
  return points;
}

/// The three mechanisms that 002 §6 reads the table by, without training: the needle is the first write.
std::vector<Point> haystack(const Protocol &protocol) {
  std::vector<Point> points;
  const int d = 16, period = 4;
  for (int m : {8, 32}) {
    points.push_back(among_random_keys("delta_net", d, m, 1, 1, protocol.seed, "exact"));
    points.push_back(among_repeated_keys(d, period, m, protocol.seed));
    points.push_back(among_random_keys("gated_delta_net", d, m, 1, 0.97, protocol.seed, "exact"));
    const double decay = std::pow(0.97, m);
    // The gate alone keeps alpha^m of every needle, whatever is written after it (with v = 0 there is no cross-talk).
    const std::vector<double> kept =
        retention("gated_linear", make_keys({"unit", m + 1, d}, 10, protocol.seed), m + 1, d, m, 1, 0.97);
    points.push_back(at(exact_point(max_difference(kept, std::vector<double>(10, decay)), 0, 16 * d + m, 1e-3), "exact",
                        labelled("gated_linear", "unit", d, m, 1, 0.97)));
  }
  return points;
}

} // namespace

std::vector<Claim> forgetting() {
  Claim never =
      refuted_row("blog-never-forgets", Scope::paper, "002 §4-5",
                  "A stale write stays in S at full magnitude forever; DeltaNet never forgets.",
                  "True only while every later key is exactly orthogonal, which more than d - 1 cannot be. Under "
                  "random keys the mean retention is (1 - beta/d)^m: it forgets with time constant d / beta.",
                  never_forgets);
  never.variants = {"delta_net"};
  never.params = {integer_param("d", 16, 2, 4096, "key width"), integer_param("writes", 16, 1, 4096, "later writes"),
                  real_param("beta", 1, 0, 2, "write strength")};
  Claim bounds = ledger_row("blog-gating-bounds", "002 §2", "Gating bounds S.",
                            "|S| <= max |v||k| / (1 - bar) where alpha_t <= bar < 1; alpha in (0,1) alone does not "
                            "bound it (alpha_t = 1 - 1/(t+1)^2 grows like t).",
                            gating_bounds);
  bounds.variants = {"gated_linear"};
  Claim sniah =
      ledger_row("blog-sniah", "002 §6, quoting Table 2 of Gated DeltaNet",
                 "DeltaNet falls from 98.4 to 14.4 on S-NIAH-2 and Mamba2 from 99.2 to 30.4 on S-NIAH-1, from 1K to "
                 "8K; Gated DeltaNet stays near 90.",
                 "Not numeric here: accuracies of trained models, out of reach of a training-free check. Measured "
                 "instead, how much of a needle survives m later writes: (1 - 1/d)^m in DeltaNet among random keys, "
                 "1 - r/d for ever among r repeated ones, alpha^m under a gate, their product under both.",
                 haystack);
  sniah.variants = {"delta_net", "gated_linear", "gated_delta_net"};
  sniah.tasks = {"needle"};
  return {never, bounds, sniah};
}

} // namespace recollect::theory
