// SPDX-License-Identifier: Apache-2.0
// Reachability in a directed acyclic graph by a matrix inverse (000 §3.3, Eq 97), computed by `delta_former` itself.
//
// Node t is step t in topological order. Keys are the standard basis, w_t = s sum of the keys of t's parents, v_t = e_t
// and linear kernels: then A[t,i] = s where i is a parent of t, u_t is row t of (I + A)^{-1}, and the read q_t = e_t
// returns it. With s = -1 it is (I - adjacency)^{-1} and counts paths; with s = +1 it is Eq 97 as it stands.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Parents = std::vector<std::vector<int>>; // of each node, all earlier

Dense rows_of_inverse(const Parents &parents, double s) {
  const int n = int(parents.size());
  Sequence input;
  input.shape = {1, 1, n, n, n};
  input.k = input.q = input.v = Dense::identity(n).data;
  input.w.assign(size_t(n) * n, 0.0);
  for (int t = 0; t < n; ++t)
    for (int i : parents[t]) input.w[size_t(t) * n + i] += s;
  const Variant &v = find_variant("delta_former");
  return Dense(
      n, n,
      forward(v, input, {"chunked", Real::f64, 16, variant_params(v, {{"kappa1", "linear"}, {"kappa2", "linear"}})}).o);
}

/// paths(t, i): the number of directed paths from i to t, each weighted sign^length; reached(t, i): whether there is
/// one.
struct Walks {
  Dense paths, reached;
};

Walks walk(const Parents &parents, double sign) {
  const int n = int(parents.size());
  Walks w{Dense::identity(n), Dense::identity(n)};
  for (int t = 0; t < n; ++t)
    for (int parent : parents[t])
      for (int i = 0; i <= parent; ++i) {
        w.paths(t, i) += sign * w.paths(parent, i);
        if (w.reached(parent, i) != 0) w.reached(t, i) = 1;
      }
  return w;
}

/// Every earlier node is a parent with probability p.
Parents random_dag(int n, double p, std::uint64_t seed) {
  Parents parents(n);
  const Stream draw(seed, 81);
  for (int t = 1; t < n; ++t)
    for (int i = 0; i < t; ++i)
      if (draw.uniform(size_t(t) * n + i) < p) parents[t].push_back(i);
  return parents;
}

/// Two trees over n nodes, as in the experiment: nodes 0 and 1 are the roots, every other node has one earlier parent.
Parents two_trees(int n, std::uint64_t seed) {
  Parents parents(n);
  const Stream draw(seed, 82);
  for (int t = 2; t < n; ++t) parents[t].push_back(int(draw.below(t, t)));
  return parents;
}

Params labelled(const std::string &graph, const std::string &quantity, int n) {
  Params p;
  return p.set("graph", graph).set("quantity", quantity).set("n", n);
}

int disagreements(const Dense &inverse, const Dense &reached) {
  int wrong = 0;
  for (size_t i = 0; i < inverse.data.size(); ++i) wrong += (inverse.data[i] != 0) != (reached.data[i] != 0);
  return wrong;
}

std::vector<Point> path_counts(const Protocol &protocol, double s) {
  std::vector<Point> points;
  const std::vector<std::pair<std::string, Parents>> graphs{{"random, p = 0.3", random_dag(16, 0.3, protocol.seed)},
                                                            {"complete", random_dag(12, 1, protocol.seed)},
                                                            {"two trees", two_trees(32, protocol.seed)}};
  for (const auto &[name, parents] : graphs) {
    const int n = int(parents.size());
    const Walks walks = walk(parents, 1);
    const Dense inverse = rows_of_inverse(parents, s);
    points.push_back(at(exact_point(max_difference(inverse.data, walks.paths.data), 0, 0, 0.5), "exact",
                        labelled(name, "entries against path counts", n))); // integers
    if (s > 0) continue;
    points.push_back(at(exact_point(disagreements(inverse, walks.reached), 0, 0, 0.5), "exact",
                        labelled(name, "entries > 0 against reachability", n)));
    Dense adjacency(n, n), power = Dense::identity(n), series = Dense::identity(n);
    for (int t = 0; t < n; ++t)
      for (int i : parents[t]) adjacency(t, i) += 1;
    for (int m = 1; m < n; ++m) power = power * adjacency, series = series + power;
    points.push_back(at(exact_point(max_difference(series.data, inverse.data), 0, 0, 0.5), "exact",
                        labelled(name, "I + A + ... + A^(n-1) against the inverse", n)));
    points.push_back(at(exact_point(max_abs((power * adjacency).data), 0, 0, 0.5), "exact", labelled(name, "A^n", n)));
  }
  return points;
}

std::vector<Point> printed_sign(const Protocol &protocol) {
  const Parents triangle{{}, {0}, {0, 1}}; // 0 -> 2 and 0 -> 1 -> 2: one odd path and one even
  const double printed = rows_of_inverse(triangle, +1)(2, 0), mended = rows_of_inverse(triangle, -1)(2, 0);
  std::vector<Point> points{at(bounded_point(std::fabs(printed), Point::at_least, 1, 0, 0.5), "paper",
                               labelled("0 -> 2, 0 -> 1 -> 2", "|entry (2, 0)| of (I + A)^-1, 2 is reachable", 3)),
                            at(exact_point(printed, 0, 0, 0.5), "corrected",
                               labelled("0 -> 2, 0 -> 1 -> 2", "entry (2, 0) of (I + A)^-1: -1 + 1", 3)),
                            at(exact_point(mended, 2, 0, 0.5), "corrected",
                               labelled("0 -> 2, 0 -> 1 -> 2", "entry (2, 0) of (I - A)^-1: two paths", 3))};
  const Parents dag = random_dag(16, 0.3, protocol.seed), trees = two_trees(32, protocol.seed);
  points.push_back(at(exact_point(max_difference(rows_of_inverse(dag, +1).data, walk(dag, -1).paths.data), 0, 0, 0.5),
                      "corrected", labelled("random, p = 0.3", "(I + A)^-1 against signed path counts", 16)));
  const Dense signed_trees = rows_of_inverse(trees, +1);
  points.push_back(at(exact_point(disagreements(signed_trees, walk(trees, 1).reached), 0, 0, 0.5), "corrected",
                      labelled("two trees", "entries != 0 of (I + A)^-1 against reachability", 32)));
  points.push_back(at(exact_point(max_abs(signed_trees.data), 1, 0, 0.5), "corrected",
                      labelled("two trees", "largest |entry| of (I + A)^-1: one path each", 32)));
  // A cycle of two nodes: I - A = [[1,-1],[-1,1]] has no inverse.
  points.push_back(at(exact_point(singular_values(Dense(2, 2, {1, -1, -1, 1})).back(), 0, 8, 0.5), "corrected",
                      labelled("0 <-> 1", "smallest singular value of I - A", 2)));
  return points;
}

} // namespace

std::vector<Claim> graphs() {
  Claim counts =
      ledger_row("dag-neumann", "000 §3.3",
                 "(I - A)^{-1} can be seen as an approximation of I + A + ... + A^n; its entry (i, j) is positive "
                 "where j reaches i.",
                 "Equality, not approximation, for a graph in topological order (A^n = 0); entries count paths.",
                 [](const Protocol &p) { return path_counts(p, -1); });
  counts.variants = {"delta_former"};
  counts.tasks = {"reachability"};
  counts.control = [](const Protocol &p) { return path_counts(p, +1); };

  Claim sign = refuted_row(
      "dag-deltaformer-sign", Scope::paper, "000 §3.3 with Eq 97", "The inverse of Eq 97 gives reachability.",
      "(I + A)^{-1} counts paths with the sign of their length and cancels where odd and even paths are equal "
      "in number; beta = -1 (or a kernel of -1) mends it. "
      "On the forests of the experiment there is one path, so the entry is +-1 and the sign does no harm.",
      printed_sign);
  sign.variants = {"delta_former"};
  sign.tasks = {"reachability"};
  return {counts, sign};
}

} // namespace recollect::theory
