// SPDX-License-Identifier: Apache-2.0
// 000 §3.2 with fixed keys, without training. In the stress test the linear kernel exchanges by reflections. These are
// exact only for orthonormal keys, so only up to n = d; rounding stays exact for n > d. With rotary embeddings, a query
// no longer equals its key.
#include "theory/associative_memory/tracking/swaps.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {
/// The reads and, below them, the state of DeltaNet.
Output by_delta_net(const Sequence &s) { return run("delta_net", s, {}, "chunked", 64); }

Claim linear_against_round() {
  ClaimBuilder c("stress-linear-vs-round", "000 §3.2, Fig 5 (fixed keys, exact read)");
  c.says("With $d$ fixed at 128, and keys and values set to the almost orthogonal vectors of Theorem 1, the linear "
         "kernel is severely degraded as $n >= d$ grows, and rounding is not.");
  c.exactly("The linear kernel is exact only for orthonormal keys, so up to $n = d = 128$. For $n > d$ no state of $d$ "
            "columns holds $n$ arbitrary values, and the final error of the linear kernel is at least the error of "
            "least squares. Rounding is exact if the coherence is below $1/8$.");
  c.because("At $n = d = 128$ itself both kernels are exact, because the keys are orthonormal. The paper's curves show "
            "trained reads (fig5_training).");
  c.draws({"swap"}), c.runs({"delta_net", "delta_former"});
  c.takes({integer_param("n", 256, 64, 512, "elements, more than d; at most 2 d"),
           integer_param("d", 128, 128, 256, "key width, a power of two")});
  return measure(c, [](Points &points, Seed seed, int n, int d) {
    if (n <= d || n > 2 * d) usage_error("the statement is about n > d, and these keys end at n = 2 d");
    const auto told = [&](const KeySet &set) { return tell_swaps(key_rows(set, seed), set.n, seed); };
    const KeySet many{"hadamard", n, d}, fit{"hadamard", d, d}, few{"unit", d / 2, d};
    const auto values_norm = [](const SwapStory &story) { return std::sqrt(inner(story.values, story.values)); };
    // Each step is a reflection of a state of norm |values|, with width + 4 rounding errors.
    const auto reflected = [&](const KeySet &set) {
      const SwapStory story = told(set);
      return exact_point(by_delta_net(story.sequence).o, story.target,
                         2.0 * story.sequence.shape.T * (set.d + 4) * values_norm(story));
    };
    const SwapStory story = told(many), random = told({"unit", n, d});
    const Output line = by_delta_net(story.sequence);
    const Dense keys = key_rows(many, seed), values(n, 1, story.values), reads = keys * Dense(d, 1, line.state);
    const double error = frobenius_norm(reads - values),
                 least = frobenius_norm(values - keys * (pseudo_inverse(keys) * values)),
                 of_round = max_difference(reads_by_round(story), story.target);
    points.at(describe(many)).statement("every read with f = round", tracked_by_round(story));
    points.at(describe({"unit", n, d})).wrong_system("random keys", tracked_by_round(random));
    points.at(describe(many))
        .statement("final error of the linear kernel, at least the error of least squares",
                   at_least_point(error, least, 0));
    points.wrong_system("round in place of the linear kernel", at_least_point(of_round, least, 0));
    points.at(describe(fit)).obligation("every read of the linear kernel, $n = d$ orthonormal keys", reflected(fit));
    points.at(describe(few)).wrong_system("$d/2$ random keys", reflected(few));
  });
}

/// k_2 + sign k_1.
Vector difference_of_first(const Dense &keys, double sign) {
  Vector k;
  for (int c = 0; c < keys.columns; ++c) k.push_back(keys(1, c) + sign * keys(0, c));
  return k;
}

/// DeltaNet exchanges the values of the first two of d orthonormal keys with write strength beta. Before the step the
/// state has a random value at every key. The values at all keys after the step are compared with an exact exchange.
Point one_exchange(int d, double beta, double sign, const Dense &keys, std::uint64_t seed) {
  Sequence s = stored({1, 1, 1, d, d}, difference_of_first(keys, sign), Vector(d, 0.0), beta);
  const Dense values = normal_matrix(d, d, seed, "householder/values"), S = transpose(values) * keys;
  s.state = S.data;
  const Dense after = keys * transpose(Dense(d, d, run("delta_net", s).state));
  Dense wanted = keys * transpose(S);
  for (int c = 0; c < d; ++c) std::swap(wanted(0, c), wanted(1, c));
  return exact_point(after.data, wanted.data, 16 * d * max_abs(wanted.data));
}

Claim householder() {
  ClaimBuilder c("swap-householder", "000 Theorem 1 with the linear kernel, E.3");
  c.says("With the identity as $f$ and $n <= d$ orthonormal keys, the step $k_t = k_a - k_b$, $v_t = 0$ exchanges the "
         "two values.");
  c.exactly("$I - beta k k^T$ with $beta |k|^2 = 2$ is a Householder reflection. Its eigenvalue is $1 - beta |k|^2 = "
            "-1$ along $k$ and 1 orthogonal to $k$.");
  c.draws({"swap"}), c.runs({"delta_net"}), c.takes({key_width_param(6, 2, 256)});
  return measure(c, [](Points &points, Seed seed, int d) {
    const Dense keys = key_rows({"orthonormal", d, d}, seed);
    // The eigenvalue along k: the read at k after the step, if the state was k^T.
    const auto along = [&](double beta) {
      Sequence s = stored({1, 1, 1, d, 1}, difference_of_first(keys, -1), {0}, beta);
      s.state = s.k;
      return exact_point(run("delta_net", s).o[0] / 2, -1, 8 * d); // |k|^2 = 2
    };
    const auto label = [&](double beta) { return labels({{"d", d}, {"beta", beta}}); };
    points.at(label(1)).statement("values at all keys after the step, against an exact exchange",
                                  one_exchange(d, 1, -1, keys, seed));
    points.at(label(0.5)).wrong_system("$beta = 1/2$", one_exchange(d, 0.5, -1, keys, seed));
    points.at(label(1)).wrong_system("$k_a + k_b$ in place of $k_a - k_b$", one_exchange(d, 1, +1, keys, seed));
    points.obligation("eigenvalue of the step along k: $-1$", along(1));
    points.at(label(0.5)).wrong_system("$beta |k|^2 = 1$: a projection", along(0.5));
  });
}

/// For each sequence of random exchanges, the share of the n elements that no exchange involves.
Vector untouched(size_t first, size_t stories, int n, int swaps, std::uint64_t seed) {
  Vector shares;
  for (size_t story = first; story < first + stories; ++story) {
    const Stream pairs(seed, "participation/pairs", story);
    std::vector<char> touched(n, 0);
    for (int swap = 0; swap < swaps; ++swap) {
      const auto [a, b] = two_of(pairs, 2 * size_t(swap), n);
      touched[a] = touched[b] = 1;
    }
    shares.push_back(double(std::count(touched.begin(), touched.end(), 0)) / n);
  }
  return shares;
}

Claim participation() {
  ClaimBuilder c("stress-participation", "000 §3.2 stress test");
  c.says("Lengths of 256, 512 and 1024 for $n = 128$, 256 and 512 let most elements take part in the exchanges.");
  c.exactly(
      "After $L$ uniform exchanges an element has not been moved with probability $(1 - 2/n)^L$. At $L = 2 n$ this is "
      "1.8 %, so that 98.2 % of the elements take part. If the length includes the $n$ writes, 86.6 % take part.");
  c.because("The paper does not say whether the length includes the writes; most elements take part in both cases.");
  c.takes({integer_param("n", 128, 3, 1024, "elements"), integer_param("swaps", 256, 1, 4096, "exchanges")});
  const Changes few{{"n", 8}, {"swaps", 8}}, half{{"swaps", 128}}, most{{"n", 512}, {"swaps", 1024}};
  c.at({few, {}, half}, {few, {}, half, most});
  c.also([](Points &points, const Protocol &protocol) { // at n = 128, 32 exchanges are too few to involve most elements
    const Mean few = mean_of(untouched(0, 2000, 128, 32, protocol.seed));
    points.at({{"n", 128}, {"swaps", 32}})
        .wrong_system("$n/4$ exchanges", at_least_point(Mean{1 - few.mean, few.standard_error}, 0.5));
  });
  return measure(c, [](Points &points, const Protocol &protocol, int n, int swaps) {
    const auto draw = [&](size_t i, size_t count) { return untouched(i, count, n, swaps, protocol.seed); };
    const Mean share = sample_mean(wanted_sensitivity(protocol), 500, 400000, in_blocks(cached_block(2 * swaps), draw));
    points.statement("share of elements that take part, at least half",
                     at_least_point(Mean{1 - share.mean, share.standard_error}, 0.5));
    auto left =
        points.obligation("share of elements that are not moved: $(1 - 2/n)^L$", share, std::pow(1 - 2.0 / n, swaps))
            .but_not("$(1 - 1/n)^L$ in place of $(1 - 2/n)^L$", std::pow(1 - 1.0 / n, swaps));
    if (n < 40) left.but_not("$exp(-2 L / n)$ in place of $(1 - 2/n)^L$", std::exp(-2.0 * swaps / n));
  });
}

/// The sequence with every row of k and q rotated by its position t: pair p of channels by the angle t base^{-2p/d}.
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
  ClaimBuilder c("rope-breaks-construction", "000 §3.2, The Role of Rotary Embeddings");
  c.says("The proof of Theorem 1 needs no positional embedding, and rotary embeddings may damage expression and "
         "extrapolation.");
  c.exactly(
      "With fixed orthonormal keys and rounding as the kernel, most reads are wrong if keys and queries are rotated "
      "(accuracy 0.27 at $n = 5$, $d = 8$, 16 exchanges). Without rotation all reads are right. If a single key in the "
      "channels of pair $p$ is read $D$ steps after its write, its weight is $round(cos(D base^{-2p/d}))$.");
  c.because("The paper suspects this of trained models and calls it speculation. Learned keys, which could leave the "
            "rapidly rotating channels unused, are not covered here (fig6_training).");
  c.draws({"swap"}), c.runs({"delta_former"});
  c.takes({integer_param("n", 5, 3, 16, "elements"), integer_param("d", 8, 4, 64, "key width, even, n at least"),
           integer_param("swaps", 16, 4, 256, "exchanges"),
           real_param("base", 10000, 10, 1e6, "base of the rotation angles")});
  return measure(c, [](Points &points, const Protocol &protocol, int n, int d, int swaps, double base) {
    if (d % 2 || d < n) usage_error("rotary embeddings need an even width, and n orthonormal keys d >= n");
    const auto accuracy = [&](const auto &embed) {
      Vector share;
      for (int story = 0; story < (protocol.full() ? 3000 : 300); ++story) {
        const std::uint64_t seed = protocol.seed + 7919 * (story + 1);
        const SwapStory told = tell_swaps(key_rows({"orthonormal", n, d}, seed), swaps, seed);
        const Sequence s = with_one_hot_values(embed(told.sequence), n);
        share.push_back(right_share(reads_by("round", s, "recurrent"), told, n, swaps));
      }
      return mean_of(share);
    };
    const auto without = [&](const auto &embed) {
      const SwapStory told = tell_swaps(key_rows({"orthonormal", n, d}, protocol.seed), swaps, protocol.seed);
      return exactly_tracked(reads_by("round", embed(told.sequence), "recurrent"), told);
    };
    const auto plain = [](const Sequence &s) { return s; };
    const auto turned = [&](const Sequence &s) { return with_rope(s, base); };
    const auto in_place = [&](const Sequence &s) { return with_rope(s, base, false); };
    points.statement("every read without rotary embeddings", without(plain));
    points.wrong_system("rotated keys and queries", without(turned));
    points.obligation("every read, all keys and queries rotated by one angle", without(in_place));
    points.statement("accuracy with rotary embeddings, below $1/2$", at_most_point(accuracy(turned), 0.5));
    points.wrong_system("the same rotation at every position", at_most_point(accuracy(in_place), 0.5));
    // For each rotated pair of channels p, the key e_{2p} is written at step 1 and read at every later step.
    const int T = 40;
    Vector read, law, upright;
    for (int p = 0; p < d / 2; ++p) {
      Sequence s = of_shape({1, 1, T, d, 1});
      s.k.assign(size_t(T) * d, 0.0), s.q = s.k, s.v.assign(T, 0.0);
      s.k[2 * p] = 1, s.v[0] = 3;
      for (int t = 0; t < T; ++t) s.q[size_t(t) * d + 2 * p] = 1;
      const Vector o = reads_by("round", with_rope(s, base), "recurrent");
      read.insert(read.end(), o.begin(), o.end());
      for (int t = 0; t < T; ++t)
        law.push_back(3 * std::nearbyint(std::cos(t * std::pow(base, -2.0 * p / d)))), upright.push_back(3);
    }
    points.rounding(0)
        .obligation("reads of a single key at every lag, against its value times $round(cos(D base^{-2p/d}))$", read,
                    law)
        .but_not("the value itself, as without rotation", upright);
  });
}
} // namespace

std::vector<Claim> stress_test() { return {linear_against_round(), householder(), participation(), rotary()}; }
} // namespace recollect::theory
