// SPDX-License-Identifier: Apache-2.0
// The stress test and the rotary embeddings of 000 §3.2 at fixed keys, nothing trained: the linear kernel exchanges by
// reflections, exact as long as the keys are orthonormal, which ends at n = d; the round kernel goes on; rotated keys
// no longer meet.
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/statistics.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {

/// Reads and, below them, the state of DeltaNet.
Output by_delta_net(const Sequence &s) { return forward(find_variant("delta_net"), s, {"chunked", Real::f64, 64, {}}); }

Claim linear_against_round() {
  const std::vector<ParamSpec> params{integer_param("n", 256, 64, 512, "elements, more than d; at most 2 d"),
                                      integer_param("d", 128, 128, 256, "key width, a power of two")};
  Claim claim = ledger_row(
      "stress-linear-vs-round", "000 §3.2, Fig 5 (fixed keys, exact read)",
      "With $d$ fixed at 128, keys and values set to the almost orthogonal vectors of Theorem 1, the linear kernel is "
      "severely degraded as $n >= d$ grows, and rounding is not.",
      "Linear is exact exactly for orthonormal keys, so up to $n = d = 128$; beyond, no state of $d$ columns holds $n$ "
      "free values, and its final error is at least that of least squares. Rounding is exact while the coherence is "
      "below $1/8$.",
      [params](const Protocol &protocol) {
        std::vector<Point> points;
        const Params at = point_of(protocol, params);
        const int n = at.integer("n"), d = at.integer("d");
        if (n <= d || n > 2 * d) usage_error("the statement is about n > d, and these keys end at n = 2 d");
        const auto told = [&](const KeySet &set) {
          return tell_swaps(key_rows(set, protocol.seed), set.n, protocol.seed);
        };
        const auto label = [](const KeySet &set) {
          return labels({{"keys", txt(set.kind)}, {"n", num(set.n)}, {"d", num(set.d)}});
        };
        const KeySet many{"hadamard", n, d}, fit{"hadamard", d, d}, few{"unit", d / 2, d};
        const auto values_norm = [](const SwapStory &story) { return std::sqrt(inner(story.values, story.values)); };
        // A reflection of a state of norm |values| a step: width + 4 roundings each.
        const auto reflected = [&](const KeySet &set) {
          const SwapStory story = told(set);
          return exact_point(by_delta_net(story.sequence).o, story.target,
                             2.0 * story.sequence.shape.T * (set.d + 4) * values_norm(story));
        };
        const SwapStory story = told(many), random = told({"unit", n, d});
        const Output line = by_delta_net(story.sequence);
        const Dense keys = key_rows(many, protocol.seed), values(n, 1, story.values),
                    reads = keys * Dense(d, 1, line.state);
        const double error = frobenius_norm(reads - values),
                     least = frobenius_norm(values - keys * (pseudo_inverse(keys) * values)),
                     of_round = max_difference(reads_by_round(story), story.target);
        points.push_back(as_statement(exactly_tracked(reads_by_round(story), story), label(many), "every read, round"));
        points.push_back(
            rival_system(exactly_tracked(reads_by_round(random), random), label({"unit", n, d}), "random keys"));
        points.push_back(as_statement(at_least_point(error, least, 0), label(many),
                                      "final error, linear, at least that of least squares"));
        points.push_back(rival_system(at_least_point(of_round, least, 0), label(many), "round for linear"));
        points.push_back(as_obligation(reflected(fit), label(fit), "every read, linear, n = d orthonormal keys"));
        points.push_back(rival_system(reflected(few), label(few), "half as many, but random, keys"));
        return points;
      });
  claim.explanation = "At $n = d = 128$ itself the two cannot be told apart: orthonormal keys allow no loss. The "
                      "paper's curves are of trained reads (fig5_training).";
  claim.tasks = {"swap"};
  return at_parameters(running(claim, {"delta_net", "delta_former"}), params);
}

/// One exchange of the first two of d orthonormal keys by DeltaNet at write strength beta, on a state that holds a
/// random value at every key: what each key holds after it, against the exchange.
Point one_exchange(int d, double beta, double sign, const Dense &keys, std::uint64_t seed) {
  Sequence s;
  s.shape = {1, 1, 1, d, d};
  for (int c = 0; c < d; ++c) s.k.push_back(keys(1, c) + sign * keys(0, c));
  s.q = s.k, s.v.assign(d, 0.0), s.beta = {beta};
  const Dense values = normal_matrix(d, d, seed, "householder/values"), S = transpose(values) * keys;
  s.state = S.data;
  const Dense after = keys * transpose(Dense(d, d, forward(find_variant("delta_net"), s).state));
  Dense wanted = keys * transpose(S);
  for (int c = 0; c < d; ++c) std::swap(wanted(0, c), wanted(1, c));
  return exact_point(after.data, wanted.data, 16 * d * max_abs(wanted.data));
}

Claim householder() {
  const std::vector<ParamSpec> params{integer_param("d", 6, 2, 256, "key width")};
  Claim claim = ledger_row(
      "swap-householder", "000 Theorem 1 with the linear kernel, E.3",
      "With the identity as $f$, for which $n <= d$ orthonormal keys serve, the step $k_t = k_a - k_b$, $v_t = 0$ "
      "exchanges "
      "the two values.",
      "$I - beta k k^T$ with $beta |k|^2 = 2$ is a Householder reflection: eigenvalue $1 - beta |k|^2 = -1$ along $k$, "
      "1 "
      "across it.",
      [params](const Protocol &protocol) {
        const int d = point_of(protocol, params).integer("d");
        const Dense keys = key_rows({"orthonormal", d, d}, protocol.seed);
        // Eigenvalue along k: what the step leaves of a state k^T, at k.
        const auto along = [&](double beta) {
          Sequence s;
          s.shape = {1, 1, 1, d, 1};
          for (int c = 0; c < d; ++c) s.k.push_back(keys(1, c) - keys(0, c));
          s.q = s.k, s.v = {0}, s.beta = {beta}, s.state = s.k;
          return exact_point(forward(find_variant("delta_net"), s).o[0] / 2, -1, 8 * d); // |k|^2 = 2
        };
        const auto label = [&](double beta) { return labels({{"d", num(d)}, {"beta", num(beta)}}); };
        return std::vector<Point>{
            as_statement(one_exchange(d, 1, -1, keys, protocol.seed), label(1), "value at every key after the step"),
            rival_system(one_exchange(d, 0.5, -1, keys, protocol.seed), label(0.5), "beta = 1/2"),
            rival_system(one_exchange(d, 1, +1, keys, protocol.seed), label(1), "k_a + k_b"),
            as_obligation(along(1), label(1), "eigenvalue along k"),
            rival_system(along(0.5), label(0.5), "beta |k|^2 = 1: a projection")};
      });
  claim.tasks = {"swap"};
  return at_parameters(running(claim, {"delta_net"}), params);
}

/// Elements that L uniform exchanges of n leave alone, a story.
std::vector<double> untouched(size_t first, size_t stories, int n, int swaps, std::uint64_t seed) {
  std::vector<double> shares;
  for (size_t story = first; story < first + stories; ++story) {
    const Stream pairs(seed, "participation/pairs", story);
    std::vector<char> touched(n, 0);
    for (int swap = 0; swap < swaps; ++swap) {
      const int a = int(pairs.below(2 * size_t(swap), n));
      touched[a] = 1, touched[(a + 1 + int(pairs.below(2 * size_t(swap) + 1, n - 1))) % n] = 1;
    }
    shares.push_back(double(std::count(touched.begin(), touched.end(), 0)) / n);
  }
  return shares;
}

Claim participation() {
  const std::vector<ParamSpec> params{integer_param("n", 128, 3, 1024, "elements"),
                                      integer_param("swaps", 256, 1, 4096, "exchanges")};
  Claim claim = ledger_row(
      "stress-participation", "000 §3.2 stress test",
      "Lengths of 256, 512 and 1024 for $n = 128$, 256 and 512 let most elements take part in the exchanges.",
      "After $L$ uniform exchanges an element has been left alone with probability $(1 - 2/n)^L$: 1.8 % at $L "
      "= 2 n$, so that 98.2 % take part; 13.4 % and 86.6 % if the length includes the $n$ writes.",
      [params](const Protocol &protocol) {
        std::vector<Point> points;
        std::vector<std::pair<int, int>> cases{{8, 8}, {128, 256}, {128, 128}};
        if (protocol.full()) cases.emplace_back(512, 1024);
        if (protocol.point) cases = {{protocol.point->integer("n"), protocol.point->integer("swaps")}};
        for (const auto &[n, swaps] : cases) {
          const double alone = std::pow(1 - 2.0 / n, swaps);
          const Mean share =
              sample_mean(wanted_sensitivity(protocol), 500, 400000, [&, n = n, swaps = swaps](size_t i, size_t count) {
                return untouched(i, count, n, swaps, protocol.seed);
              });
          const Params label = labels({{"n", num(n)}, {"swaps", num(swaps)}});
          points.push_back(as_statement(at_least_point(Mean{1 - share.mean, share.standard_error}, 0.5), label,
                                        "share that takes part: most"));
          const Point left = as_obligation(sampled_point(share, alone), label, "share left alone");
          points.push_back(left);
          points.push_back(rival_law(left, "(1 - 1/n)^L", std::pow(1 - 1.0 / n, swaps)));
          if (n < 40) points.push_back(rival_law(left, "exp(-2 L / n)", std::exp(-2.0 * swaps / n)));
        }
        if (protocol.point) return points;
        // Too few exchanges to reach most.
        const Mean few = mean_of(untouched(0, 2000, 128, 32, protocol.seed));
        points.push_back(rival_system(at_least_point(Mean{1 - few.mean, few.standard_error}, 0.5),
                                      labels({{"n", num(128)}, {"swaps", num(32)}}), "length n/4"));
        return points;
      });
  claim.explanation = "The paper does not say whether the length includes the writes; most take part either way.";
  return at_parameters(claim, params);
}

/// Every row of k and q turned by its position: pair p by the angle t base^{-2p/d}.
Sequence with_rope(Sequence s, double base, bool by_position = true) {
  const int d = s.shape.Dk;
  for (auto *rows : {&s.k, &s.q})
    for (int t = 0; t < s.shape.T; ++t)
      for (int p = 0; p < d / 2; ++p) {
        const double angle = (by_position ? t : 1) * std::pow(base, -2.0 * p / d);
        double &x = (*rows)[size_t(t) * d + 2 * p], &y = (*rows)[size_t(t) * d + 2 * p + 1];
        const double turned = std::cos(angle) * x - std::sin(angle) * y;
        y = std::sin(angle) * x + std::cos(angle) * y, x = turned;
      }
  return s;
}

Claim rotary() {
  const std::vector<ParamSpec> params{
      integer_param("n", 5, 3, 16, "elements"), integer_param("d", 8, 4, 64, "key width, even, n at least"),
      integer_param("swaps", 16, 4, 256, "exchanges"), real_param("base", 10000, 10, 1e6, "of the angles")};
  Claim claim = ledger_row(
      "rope-breaks-construction", "000 §3.2, The Role of Rotary Embeddings",
      "The proof of Theorem 1 needs no positional embedding, and rotary embeddings may damage expression and "
      "extrapolation.",
      "At fixed orthonormal keys, rounding as kernel and rotated keys and queries, most reads are wrong (accuracy "
      "0.27 at $n = 5$, $d = 8$, 16 exchanges); all are right without. A lone key of pair $p$ is read after a lag of "
      "$D$ "
      "steps with weight round(cos($D$ base^{-$2p/d$})).",
      [params](const Protocol &protocol) {
        std::vector<Point> points;
        const Params at = point_of(protocol, params);
        const int n = at.integer("n"), d = at.integer("d"), swaps = at.integer("swaps");
        const double base = at.real("base");
        if (d % 2 || d < n) usage_error("rotary embeddings need an even width, and n orthonormal keys d >= n");
        const auto accuracy = [&](const auto &embed) {
          std::vector<double> share;
          for (int story = 0; story < (protocol.full() ? 3000 : 300); ++story) {
            const std::uint64_t seed = protocol.seed + 7919 * (story + 1);
            const SwapStory told = tell_swaps(key_rows({"orthonormal", n, d}, seed), swaps, seed);
            const Sequence s = with_one_hot_values(embed(told.sequence), n);
            share.push_back(right_share(reads_by("round", s, "recurrent"), told, n, swaps));
          }
          return mean_of(share);
        };
        const Mean rotated = accuracy([&](const Sequence &s) { return with_rope(s, base); });
        const auto without = [&](const auto &embed) {
          const SwapStory told = tell_swaps(key_rows({"orthonormal", n, d}, protocol.seed), swaps, protocol.seed);
          return exactly_tracked(reads_by("round", embed(told.sequence), "recurrent"), told);
        };
        const auto plain = [](const Sequence &s) { return s; };
        const auto turned = [&](const Sequence &s) { return with_rope(s, base); };
        const auto in_place = [&](const Sequence &s) { return with_rope(s, base, false); };
        points.push_back(as_statement(without(plain), at, "every read, no embedding"));
        points.push_back(rival_system(without(turned), at, "rotated keys and queries"));
        points.push_back(as_obligation(without(in_place), at, "every read, all turned by one angle"));
        points.push_back(as_statement(at_most_point(rotated, 0.5), at, "accuracy with rotary embeddings, below 1/2"));
        points.push_back(rival_system(at_most_point(accuracy(in_place), 0.5), at, "all positions equal"));
        // One key e_{2p} written at step 1, read at every later lag, for each pair p.
        const int T = 40;
        std::vector<double> read, law, upright;
        for (int p = 0; p < d / 2; ++p) {
          Sequence s;
          s.shape = {1, 1, T, d, 1};
          s.k.assign(size_t(T) * d, 0.0), s.q = s.k, s.v.assign(T, 0.0);
          s.k[2 * p] = 1, s.v[0] = 3;
          for (int t = 0; t < T; ++t) s.q[size_t(t) * d + 2 * p] = 1;
          const std::vector<double> o = reads_by("round", with_rope(s, base), "recurrent");
          read.insert(read.end(), o.begin(), o.end());
          for (int t = 0; t < T; ++t)
            law.push_back(3 * std::nearbyint(std::cos(t * std::pow(base, -2.0 * p / d)))), upright.push_back(3);
        }
        points.push_back(as_obligation(exact_point(read, law, 0), at, "reads of a lone key by lag"));
        points.push_back(rival_law(exact_point(read, upright, 0), at, "no rotation"));
        return points;
      });
  claim.explanation =
      "The paper suspects this of trained models and calls it speculation; learned keys, which can leave the fast "
      "pairs unused, are not covered here (fig6_training).";
  claim.tasks = {"swap"};
  return at_parameters(running(claim, {"delta_former"}), params);
}

} // namespace

std::vector<Claim> stress_test() { return {linear_against_round(), householder(), participation(), rotary()}; }

} // namespace recollect::theory
