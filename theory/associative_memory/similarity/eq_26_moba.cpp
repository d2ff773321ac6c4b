// SPDX-License-Identifier: Apache-2.0
// The gate of mixture of block attention (000 Eq 25-27), on the layer moba. The last query sees the complete blocks
// before its own, and its own block, which is always one of the k chosen blocks. Values are unit vectors, so a read
// shows which keys were chosen and their weights.
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
struct Blocks {
  int count, block, d;
  int keys() const { return count * block; }
};

/// Weights of the last query over all keys, for as many draws of keys and queries as there are batch elements.
Vector weights(const std::string &variant, const Blocks &b, const Vector &keys, const Vector &queries, int topk) {
  const int T = b.keys(), draws = int(queries.size()) / b.d;
  Sequence s = of_shape({draws, 1, T, b.d, T});
  s.k = keys, s.q.assign(keys.size(), 0.0);
  for (int m = 0; m < draws; ++m) {
    std::copy_n(&queries[size_t(m) * b.d], b.d, &s.q[(size_t(m + 1) * T - 1) * b.d]);
    append_column(s.v, Dense::identity(T));
  }
  Assignments set{{"scale", "1"}};
  if (variant == "moba") set["block"] = number(b.block), set["topk"] = number(topk);
  const Vector o = results_of(variant, s, set);
  Vector last;
  for (int m = 0; m < draws; ++m)
    last.insert(last.end(), o.begin() + size_t((m + 1) * T - 1) * T, o.begin() + size_t(m + 1) * T * T);
  return last;
}

enum class Pool { mean, max };
enum class Own { always_read, left_out };

/// Softmax over the rows of the topk best blocks. By `own`, the query's own block is one of them or is not read.
Vector by_gate(const Blocks &b, const Vector &keys, const Vector &queries, int topk, Pool pool, Own own) {
  const int T = b.keys(), draws = int(queries.size()) / b.d;
  Vector all;
  for (int m = 0; m < draws; ++m) {
    Vector scores(T), pooled(b.count - 1), p(T, 0.0);
    for (int i = 0; i < T; ++i) scores[i] = inner(&queries[size_t(m) * b.d], &keys[(size_t(m) * T + i) * b.d], b.d);
    for (int e = 0; e + 1 < b.count; ++e) {
      const auto from = scores.begin() + e * b.block;
      for (int i = 0; i < b.block; ++i) pooled[e] += from[i] / b.block; // the mean score is the score of the mean key
      if (pool == Pool::max) pooled[e] = *std::max_element(from, from + b.block);
    }
    double mass = 0;
    for (int e = 0; e < b.count; ++e) {
      bool open = own == Own::always_read;
      if (e + 1 < b.count) {
        int better = 0;
        for (double other : pooled) better += other > pooled[e];
        open = better < topk - 1;
      }
      for (int i = e * b.block; open && i < (e + 1) * b.block; ++i) mass += p[i] = std::exp(scores[i]);
    }
    for (double x : p) all.push_back(x / mass);
  }
  return all;
}

Vector chosen(const Vector &weights) {
  Vector set;
  for (double x : weights) set.push_back(x > 0);
  return set;
}

/// Two of the earlier blocks have equal best scores, and one block is read besides the query's own. If blocks are
/// selected by value (is the score among the top scores?), both are read. If they are selected by index, only one is
/// read.
void ties(Points &points, int block) {
  const Blocks b{4, block, 2};
  Vector keys(size_t(b.keys()) * b.d, 0.0);
  const double means[] = {1, 2, 2, 0};
  for (int i = 0; i < b.keys(); ++i) keys[size_t(i) * b.d] = means[i / block];
  const Vector open = chosen(weights("moba", b, keys, {1, 0}, 2)); // 1 for every key that is read, else 0
  points.at({{"blocks", 4}, {"block", block}, {"topk", 2}}).rounding(0);
  points.obligation("number of keys read when two blocks have the same score", inner(open, open), 2.0 * block)
      .but_not("both of the two blocks read", 3.0 * block);
}

Claim moba_gating() {
  ClaimBuilder c("moba-gating", "000 Eq 25-27");
  c.says("Mixture of block attention scores a block by the inner product of $q$ with the mean of the block's keys. It "
         "opens the $k$ blocks with the largest scores (gate $g_e = 1$, for other blocks 0) and reads $o = sum_e g_e "
         "sum_i v_i kappa(q,k_i)$, where the normalisation is omitted.");
  c.exactly("A block's score is the mean of its keys' scores. With $k = E$, the number of blocks, the layer is full "
            "attention, and scaling $q$ by $c > 0$ does not change the choice. If Eq 26 is read as a comparison of "
            "scores (is this score among the $k$ largest?), ties would open more than $k$ blocks.");
  c.because("The paper gives no rule for the query's own block. Here it is always read, causally, as one of the $k$. "
            "Blocks are selected by index; of two equal scores the earlier block wins.");
  c.runs({"moba", "softmax"});
  c.takes({integer_param("blocks", 6, 3, 16, "blocks, the query's own included"),
           integer_param("block", 4, 2, 16, "keys per block"), key_width_param(5, 1, 64),
           integer_param("topk", 3, 2, 15, "blocks read, the own one included; fewer than there are")});
  return measure(c, [](Points &points, Seed seed, int blocks, int block, int d, int most) {
    const Blocks b{blocks, block, d};
    const int topk = std::min(most, blocks - 1), draws = 32; // with 32 draws, each rival differs in some draw
    const Vector keys = Stream(seed, "moba/keys").normals(size_t(draws) * b.keys() * d),
                 queries = Stream(seed, "moba/queries").normals(size_t(draws) * d),
                 longer = (7 * Dense(draws, d, queries)).data;
    const auto law = [&](Pool pool, Own own) { return by_gate(b, keys, queries, topk, pool, own); };
    const auto moba = [&](const Vector &q, int k) { return weights("moba", b, keys, q, k); };
    const Vector right = law(Pool::mean, Own::always_read), measured = moba(queries, topk),
                 all = weights("softmax", b, keys, queries, 0);
    points.rounding(8.0 * (d + b.keys()) * (1 + d * max_abs(keys) * max_abs(queries)));
    points.statement("attention weights, against softmax over the k blocks with the best mean scores", measured, right)
        .but_not("blocks chosen by their largest score", law(Pool::max, Own::always_read))
        .but_not("the query's own block left out", law(Pool::mean, Own::left_out));
    points.wrong_system("$k - 1$ blocks in place of k", moba(queries, topk - 1), right);
    points.obligation("attention weights with all blocks open, against full attention", moba(queries, blocks), all);
    points.wrong_system("fewer than all blocks open", measured, all);
    points.rounding(0).obligation("blocks chosen for the query 7 q, against those for q", chosen(moba(longer, topk)),
                                  chosen(right));
    ties(points, block);
  });
}
} // namespace

std::vector<Claim> eq_26_moba() { return {moba_gating()}; }
} // namespace recollect::theory
