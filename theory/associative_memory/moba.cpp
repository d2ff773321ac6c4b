// SPDX-License-Identifier: Apache-2.0
// Mixture of block attention's gate (000 Eq 25-27), on the program's moba: the last query sees complete blocks before
// its own, which is always read. Values are the unit vectors, so that one read shows which keys were chosen and with
// what weight.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

constexpr int block = 4, blocks = 6, T = block * blocks, d = 5;

Sequence story(const Vector &keys, const Vector &query) {
  Sequence s;
  s.shape = {1, 1, T, d, T};
  s.k = keys, s.q.assign(keys.size(), 0.0), s.v = Dense::identity(T).data;
  std::copy(query.begin(), query.end(), s.q.end() - d);
  return s;
}
Vector weights(const std::string &variant, const Sequence &s, const Assignments &settings) {
  const Variant &found = find_variant(variant);
  const Vector o = forward(found, s, {"recurrent", Real::f64, 1, variant_params(found, settings)}).o;
  return Vector(o.end() - T, o.end());
}
Vector moba_weights(const Sequence &s, int topk) {
  return weights("moba", s, {{"block", number(block)}, {"topk", number(topk)}, {"scale", "1"}});
}

double score(const Sequence &s, int i) {
  double sum = 0;
  for (int c = 0; c < d; ++c) sum += s.q[(T - 1) * d + c] * s.k[i * d + c];
  return sum;
}
/// The mean of the block's scores: by linearity the score of its mean key.
double mean_score(const Sequence &s, int e) {
  double sum = 0;
  for (int i = 0; i < block; ++i) sum += score(s, e * block + i) / block;
  return sum;
}

/// Softmax over the rows of the chosen blocks; the gate goes by mean score, or in the control by its negative.
Vector expected(const Sequence &s, int topk, double sign) {
  Vector p(T);
  double mass = 0;
  for (int e = 0; e < blocks; ++e) {
    int better = 0;
    for (int other = 0; other + 1 < blocks; ++other)
      better += sign * mean_score(s, other) > sign * mean_score(s, e) ||
                (mean_score(s, other) == mean_score(s, e) && other < e);
    if (e + 1 < blocks && better >= topk - 1) continue;
    for (int i = e * block; i < (e + 1) * block; ++i) mass += p[i] = std::exp(score(s, i));
  }
  for (double &x : p) x /= mass;
  return p;
}

Params place(int topk, const std::string &quantity) {
  return labels({{"blocks", num(blocks)}, {"topk", num(topk)}, {"quantity", txt(quantity)}});
}

std::vector<Point> gate(const Protocol &protocol, double sign) {
  std::vector<Point> points;
  const Vector query = Stream(protocol.seed, 242).normals(d);
  const Sequence s = story(Stream(protocol.seed, 241).normals(T * d), query);
  for (int topk : {2, 3, 4})
    points.push_back(
        at(exact_point(max_difference(moba_weights(s, topk), expected(s, topk, sign)), 0, 256.0 * (T + d), 1e-3),
           "exact", place(topk, "weights against the top-k of the blocks' mean scores")));
  return points;
}

std::vector<Point> measure(const Protocol &protocol) {
  std::vector<Point> points = gate(protocol, +1);
  const Vector keys = Stream(protocol.seed, 241).normals(T * d);
  Vector query = Stream(protocol.seed, 242).normals(d);
  const Sequence s = story(keys, query);
  points.push_back(at(exact_point(max_difference(moba_weights(s, blocks), weights("softmax", s, {{"scale", "1"}})), 0,
                                  256.0 * (T + d), 1e-3),
                      "exact", place(blocks, "all blocks chosen - full softmax attention")));
  const auto chosen = [](const Vector &p) {
    Vector set;
    for (double x : p) set.push_back(x > 0);
    return set;
  };
  const Vector before = chosen(moba_weights(s, 3));
  for (double &c : query) c *= 7;
  points.push_back(at(exact_point(max_difference(chosen(moba_weights(story(keys, query), 3)), before), 0, 0, 1),
                      "exact", place(3, "choice changed by scaling q by 7")));
  // Ties: two blocks with the same mean. As membership of a score in a set of scores (Eq 26) three blocks pass for k
  // = 2.
  Vector tied(T * d, 0.0);
  const double means[blocks] = {1, 2, 2, 0, -1, 0};
  for (int i = 0; i < T; ++i) tied[i * d] = means[i / block];
  Vector axis(d, 0.0);
  axis[0] = 1;
  const Sequence tie = story(tied, axis);
  Vector scores;
  for (int e = 0; e + 1 < blocks; ++e) scores.push_back(mean_score(tie, e));
  Vector ranked = scores;
  std::sort(ranked.rbegin(), ranked.rend());
  const double by_value = std::count_if(scores.begin(), scores.end(), [&](double x) { return x == ranked[0]; });
  const Vector rows = chosen(moba_weights(tie, 2));
  points.push_back(
      at(exact_point(by_value, 2, 0, 1), "boundary", place(1, "earlier blocks in the top 1 by value, two being tied")));
  points.push_back(at(exact_point(std::count(rows.begin(), rows.end(), 1.0), 2 * block, 0, 1), "exact",
                      place(2, "keys read by index: one earlier block and the query's own")));
  return points;
}

} // namespace

std::vector<Claim> moba() {
  Claim c =
      ledger_row("moba-gating", "000 Eq 25-27",
                 "MoBA opens the k blocks with the largest <q, mean-pool k>; o = sum_e g_e sum_i v_i kappa(q,k_i).",
                 "The score of a block is the mean of its keys' scores; k = E is full attention; scaling q leaves the "
                 "choice. Read as membership of a value, ties open more than k blocks: "
                 "selection is by index here. The paper gives no causal rule for the query's own block, which is "
                 "always read here, as one of the k.",
                 measure);
  c.control = [](const Protocol &p) { return gate(p, -1); };
  return {running(c, {"moba", "softmax"})};
}

} // namespace recollect::theory
