// SPDX-License-Identifier: Apache-2.0
// Mixture of block attention's gate (000 Eq 25-27), on the program's moba: the last query sees complete blocks before
// its own, which is always read, as one of the k. Values are the unit vectors, so that one read shows which keys were
// chosen and with what weight.
#include "theory/support/layer_points.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

struct Blocks {
  int count, block, d;
  int keys() const { return count * block; }
};

/// Weights of the last query over all keys, for as many draws of keys and queries as there are batch elements.
Vector weights(const std::string &variant, const Blocks &b, const Vector &keys, const Vector &queries, int topk) {
  const int T = b.keys(), draws = int(queries.size()) / b.d;
  Sequence s;
  s.shape = {draws, 1, T, b.d, T};
  s.k = keys, s.q.assign(keys.size(), 0.0);
  for (int m = 0; m < draws; ++m) {
    std::copy_n(&queries[size_t(m) * b.d], b.d, &s.q[(size_t(m + 1) * T - 1) * b.d]);
    const Dense values = Dense::identity(T);
    s.v.insert(s.v.end(), values.data.begin(), values.data.end());
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

/// Softmax over the rows of the k best blocks; the query's own is one of them, or is not read at all.
Vector by_gate(const Blocks &b, const Vector &keys, const Vector &queries, int topk, Pool pool, Own own) {
  const int T = b.keys(), draws = int(queries.size()) / b.d;
  Vector all;
  for (int m = 0; m < draws; ++m) {
    Vector scores(T), pooled(b.count - 1), p(T, 0.0);
    for (int i = 0; i < T; ++i) scores[i] = inner(&queries[size_t(m) * b.d], &keys[(size_t(m) * T + i) * b.d], b.d);
    for (int e = 0; e + 1 < b.count; ++e) {
      const auto from = scores.begin() + e * b.block;
      for (int i = 0; i < b.block; ++i) pooled[e] += from[i] / b.block; // by linearity the score of the mean key
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

/// Two of the earlier blocks have the best mean. By value, as membership of a score in the set of the top scores, both
/// are open at k = 1 beside the own one; by index one of them is.
std::vector<Point> ties(int block) {
  const Blocks b{4, block, 2};
  Vector keys(size_t(b.keys()) * b.d, 0.0);
  const double means[] = {1, 2, 2, 0};
  for (int i = 0; i < b.keys(); ++i) keys[size_t(i) * b.d] = means[i / block];
  const Vector open = chosen(weights("moba", b, keys, {1, 0}, 2));
  const double read = inner(open, open); // keys read
  const Params p = labels({{"blocks", num(4)}, {"block", num(block)}, {"topk", num(2)}});
  const Point point = as_obligation(exact_point(read, 2.0 * block, 0), p, "keys read where two blocks tie, by index");
  return {point, rival_law(point, "by value: both of them and the own one", 3.0 * block)};
}

Claim moba_gating() {
  const std::vector<ParamSpec> params{
      integer_param("blocks", 6, 3, 16, "blocks, the query's own included"),
      integer_param("block", 4, 2, 16, "keys a block"), integer_param("d", 5, 1, 64, "key width"),
      integer_param("topk", 3, 2, 15, "blocks read, the own one included; fewer than there are")};
  const auto measure = [params](const Protocol &protocol) {
    const Params p = point_of(protocol, params);
    const Blocks b{p.integer("blocks"), p.integer("block"), p.integer("d")};
    const int topk = std::min(p.integer("topk"), b.count - 1), draws = 32; // so many that no rival agrees on all
    const Vector keys = Stream(protocol.seed, "moba/keys").normals(size_t(draws) * b.keys() * b.d),
                 queries = Stream(protocol.seed, "moba/queries").normals(size_t(draws) * b.d);
    Vector longer = queries;
    for (double &x : longer) x *= 7;
    const double units = 8.0 * (b.d + b.keys()) * (1 + b.d * max_abs(keys) * max_abs(queries));
    const auto law = [&](Pool pool, Own own) { return by_gate(b, keys, queries, topk, pool, own); };
    const auto moba = [&](const Vector &q, int k) { return weights("moba", b, keys, q, k); };
    const Vector right = law(Pool::mean, Own::always_read), measured = moba(queries, topk),
                 all = weights("softmax", b, keys, queries, 0);
    std::vector<Point> points{
        as_statement(exact_point(measured, right, units), p, "weights, by the k best mean scores"),
        rival_law(exact_point(measured, law(Pool::max, Own::always_read), units), p, "max-pool"),
        rival_law(exact_point(measured, law(Pool::mean, Own::left_out), units), p, "own block left out"),
        rival_system(exact_point(moba(queries, topk - 1), right, units), p, "k - 1 blocks"),
        as_obligation(exact_point(moba(queries, b.count), all, units), p, "k = E: full attention"),
        rival_system(exact_point(measured, all, units), p, "k < E in its place"),
        as_obligation(exact_point(chosen(moba(longer, topk)), chosen(right), 0), p, "choice for 7 q")};
    append(points, ties(b.block));
    return points;
  };
  return explained(
      at_parameters(
          running(ledger_row("moba-gating", "000 Eq 25-27",
                             "Mixture of block attention opens the $k$ blocks with the largest <q, mean-pool of "
                             "the block's keys> (gate 1, else 0) and reads $o = sum_e g_e sum_i v_i "
                             "kappa(q,k_i)$, normalisation omitted.",
                             "A block's score is the mean of its keys' scores; $k = E$ is full attention; "
                             "scaling $q$ by $c > 0$ leaves the choice. Read as membership of a value, ties would "
                             "open more than $k$ blocks.",
                             measure),
                  {"moba", "softmax"}),
          params),
      "The paper gives no rule for the query's own block. Here it is always read, causally, as one of the $k$, and "
      "selection is by index, ties to the earlier block.");
}

} // namespace

std::vector<Claim> eq_26_moba() { return {moba_gating()}; }

} // namespace recollect::theory
