// SPDX-License-Identifier: Apache-2.0
// 2506.04761 §3: the prefix of a token is split into the blocks of a Fenwick tree, with a state for each block. The
// claims are about the number of blocks and about the sum of their states.
#include "theory/log_linear_attention/fenwick.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"
#include <cmath>

namespace recollect::theory {
namespace {
Claim log_linear_states() {
  ClaimBuilder c("log-linear-states", "2506.04761 §3 (secondary source)");
  c.says("The Fenwick partition splits a prefix of t tokens into token t itself and blocks before it. The length of "
         "each such block is the largest power of two that divides the number of the block's last token. So the layer "
         "keeps of the order of $log2(t)$ states, at most $floor(log2 t) + 1$.");
  c.exactly("The number of states is 1 plus the number of ones in the binary form of $t - 1$. The bound is reached if "
            "t is a power of two.");
  c.because("Tokens are counted from 1 here. Public notes quote $ceil(log2(T + 1)) + 1$ levels from the paper, which "
            "is no smaller than this bound.");
  c.takes({integer_param("T", 256, 4, 4096, "tokens")});
  return measure(c, [](Points &points, int T) {
    // the laws count tokens from 1: token t sees t tokens, including itself
    Vector counts, ones, logs, covered, all;
    // maxima over t, with L = floor(log2 t) + 1: of the number of states minus L, and of the number of blocks of two
    // tokens minus L
    double excess = -1e9, most = -1e9;
    for (int t = 1; t <= T; ++t) {
      const auto blocks = blocks_of(t - 1);
      counts.push_back(double(blocks.size()));
      int bits = 0, tokens = 0;
      for (int rest = t - 1; rest; rest &= rest - 1) ++bits;
      for (const auto &[begin, end] : blocks) tokens += end - begin;
      ones.push_back(1 + bits), covered.push_back(tokens);
      logs.push_back(std::floor(std::log2(double(t))) + 1);
      excess = std::max(excess, counts.back() - logs.back());
      most = std::max(most, std::ceil(t / 2.0) - logs.back());
      all.push_back(t);
    }
    const int power = 1 << int(std::log2(double(T)));
    points.statement("largest over t of the number of states minus $(floor(log2 t) + 1)$: at most 0",
                     at_most_point(excess, 0, 0));
    points.rounding(1);
    points.obligation("number of states: 1 plus the ones in the binary form of $t - 1$", counts, ones)
        .but_not("$floor(log2 t) + 1$ at every t", logs);
    points.obligation("the blocks of token t hold t tokens", covered, all);
    points
        .obligation("number of states at a power of two: $log2(t) + 1$", counts[power - 1],
                    std::log2(double(power)) + 1)
        .but_not("$floor(log2 t)$", std::log2(double(power)));
    points.wrong_system("blocks of two tokens: number of states minus $(floor(log2 t) + 1)$, at most 0",
                        at_most_point(most, 0, 0));
  });
}

Claim log_linear_weights_of_one() {
  ClaimBuilder c("log-linear-weights-of-one", "2506.04761 §3 (secondary source)");
  c.says("With all level weights equal to 1, log-linear attention is linear attention.");
  c.exactly("This is an identity, because every token is in exactly one block.");
  c.because("The statement is in public notes and code; we did not have the paper itself.");
  c.runs({"linear", "retnet"});
  c.takes(one_head_params({1, 1, 37, 5, 3}));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = normal_sequence(shape, seed, "fenwick");
    const int T = shape.T, Dk = shape.Dk, Dv = shape.Dv;
    // Sums of the reads of all blocks, where block i has the weight weight(i, number of blocks).
    const auto reads = [&](const auto &weight) {
      Vector all;
      for (int t = 0; t < T; ++t) {
        const auto blocks = blocks_of(t);
        Dense read(Dv, 1);
        for (size_t i = 0; i < blocks.size(); ++i) {
          Dense S(Dv, Dk);
          for (int j = blocks[i].first; j < blocks[i].second; ++j)
            S = S + write(column(s.v, j, Dv), column(s.k, j, Dk));
          read = read + weight(i, blocks.size()) * (S * column(s.q, t, Dk));
        }
        append_column(all, read);
      }
      return all;
    };
    const Vector layer = run("linear", s).o, sum = reads([](size_t, size_t) { return 1.0; });
    double size = 0, query = 0; // sizes of the largest term v k^T and of the largest query
    for (int t = 0; t < T; ++t) {
      size = std::max(size, std::sqrt(square(column(s.k, t, Dk)) * square(column(s.v, t, Dv))));
      query = std::max(query, std::sqrt(square(column(s.q, t, Dk))));
    }
    const auto last = [](size_t i, size_t n) { return i + 1 < n || n == 1 ? 1.0 : 0.5; };
    points.rounding(8.0 * T * Dk * T * size * query);
    points.statement("linear attention is the sum of the reads of all states", layer, sum)
        .but_not("the oldest block at weight $1/2$", reads(last))
        .but_not("the token's own block left out", reads([](size_t i, size_t) { return i > 0 ? 1.0 : 0.0; }));
    points.wrong_system("retention, whose state decays", run("retnet", s).o, sum);
  });
}
} // namespace

std::vector<Claim> section_3_fenwick() { return {log_linear_states(), log_linear_weights_of_one()}; }
} // namespace recollect::theory
