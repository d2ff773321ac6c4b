// SPDX-License-Identifier: Apache-2.0
// Reachability in a directed acyclic graph by a matrix inverse (000 §3.3, Eq 97), computed by `delta_former` itself.
//
// Node t is step t in topological order. Keys are the standard basis, w_t is s times the sum of the keys of t's
// parents, v_t = e_t, and both kernels are linear. Then A[t,i] = s if i is a parent of t, u_t is row t of (I + A)^{-1},
// and the read at q_t = e_t returns it. With s = -1 the inverse is (I - adjacency)^{-1}, which counts paths; with s =
// +1 it is the matrix of Eq 97.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect::theory {
namespace {
using Parents = std::vector<std::vector<int>>; // the parents of each node, all of them earlier nodes

Dense adjacency_of(const Parents &parents) {
  const int n = int(parents.size());
  Dense A(n, n);
  for (int t = 0; t < n; ++t)
    for (int i : parents[t]) A(t, i) += 1;
  return A;
}

/// (I + s adjacency)^{-1}, whose rows are the u_t of delta_former.
Dense by_layer(const Parents &parents, double s) {
  return written(s * adjacency_of(parents), Dense::identity(int(parents.size())), {"linear", "chunked"});
}

/// paths(t, i): the number of directed paths from i to t, each weighted sign^length.
Dense paths(const Parents &parents, double sign) {
  Dense count = Dense::identity(int(parents.size()));
  for (int t = 0; t < count.rows; ++t)
    for (int parent : parents[t])
      for (int i = 0; i <= parent; ++i) count(t, i) += sign * count(parent, i);
  return count;
}

/// reached(t, i): 1 if a path leads from i to t, else 0, by search from every i.
Dense reached(const Parents &parents) {
  Dense seen = Dense::identity(int(parents.size()));
  for (int i = 0; i < seen.rows; ++i)
    for (int t = i + 1; t < seen.rows; ++t)
      for (int parent : parents[t])
        if (seen(parent, i) != 0) seen(t, i) = 1;
  return seen;
}

/// 1 for every positive entry (with `either`, for every nonzero entry), else 0.
Vector positive(const Dense &m, bool either = false) {
  Vector sign;
  for (double x : m.data) sign.push_back(x > 0 || (either && x != 0));
  return sign;
}

/// I + A + ... + A^last.
Dense series(const Dense &A, int last) {
  Dense power = Dense::identity(A.rows), sum = power;
  for (int m = 1; m <= last; ++m) power = power * A, sum = sum + power;
  return sum;
}

/// A random graph: every earlier node is a parent of a node with probability p.
Parents random_dag(int n, double p, std::uint64_t seed) {
  Parents parents(n);
  const Stream draw(seed, "graphs/edges");
  for (int t = 1; t < n; ++t)
    for (int i = 0; i < t; ++i)
      if (draw.uniform(size_t(t) * n + i) < p) parents[t].push_back(i);
  return parents;
}

Parents path_graph(int n) {
  Parents parents(n);
  for (int t = 1; t < n; ++t) parents[t] = {t - 1};
  return parents;
}

/// A graph as in the experiment: the n nodes are split evenly into two trees with roots 0 and 1. The parent of every
/// other node is an earlier node of its own tree.
Parents two_trees(int n, std::uint64_t seed, std::uint64_t number = 0) {
  Parents parents(n);
  const Stream draw(seed, "graphs/trees", number);
  for (int t = 2; t < n; ++t) parents[t] = {t % 2 + 2 * int(draw.below(t, t / 2))};
  return parents;
}

Params labelled(const std::string &graph, int n) { return labels({{"graph", graph}, {"n", n}}); }

Claim path_counts() {
  ClaimBuilder c("dag-neumann", "000 §3.3");
  c.says("With the adjacency matrix $A$ of a directed acyclic graph, $j$ is reached where entry ($i$, $j$) of some "
         "power $A$, $A^2$, ..., $A^n$ is greater than 0, and $(I - A)^{-1}$ can be seen as an approximation of $I + A "
         "+ ... + A^n$.");
  c.exactly("The inverse and the sum of powers are equal, because $A^n = 0$. Their entries count paths.");
  c.runs({"delta_former"});
  c.takes({integer_param("n", 16, 5, 48, "nodes"), real_param("p", 0.3, 0.05, 1, "probability of an edge")});
  return measure(c, [](Points &points, Seed seed, int n, double p) {
    const std::vector<std::pair<std::string, Parents>> graphs{
        {"random", random_dag(n, p, seed)}, {"two trees", two_trees(n, seed)}, {"path", path_graph(n)}};
    for (const auto &[name, parents] : graphs) {
      const Dense A = adjacency_of(parents), inverse = by_layer(parents, -1), count = paths(parents, 1);
      const double units = 4.0 * n * max_abs(count.data); // integers, exact up to 2^53
      points.at(labelled(name, n)).rounding(units);
      auto powers = points.statement("$(I - A)^-1$ by delta_former, against the sum of powers", inverse, series(A, n));
      if (name == "path") powers.but_not("the sum of powers up to $n - 2$", series(A, n - 2));
      points.wrong_system("$I + A$ in place of $I - A$", by_layer(parents, +1), series(A, n));
      points.rounding(0).statement("where entries of $(I - A)^-1$ are above 0, against a search", positive(inverse),
                                   reached(parents).data);
      points.wrong_system("the edges reversed", positive(transpose(inverse)), reached(parents).data);
      points.rounding(units).obligation("entries of $(I - A)^-1$, against path counts", inverse.data, count.data);
    }
  });
}

Claim printed_sign() {
  ClaimBuilder c("dag-deltaformer-sign", "000 §3.3 with Eq 97");
  c.says("Stricter reading: the positive entries of the inverse in Eq 97 itself, $(I + A)^{-1}$, show which nodes are "
         "reached.");
  c.is_refuted(stricter("§3.3: '$(I - A)^{-1}$ can be seen as an approximation of $I + A + ... + A^n$'; the "
                        "calculation of $u$ 'can be rewritten by matrix inverse' (Eq 97).",
                        "an adjacency matrix $A$; trees in the experiment",
                        "The text argues with $(I - A)^{-1}$; Eq 97 is named as the place of the inverse, and $beta$ "
                        "in Eq 41 may turn the sign."));
  c.exactly("The entries of $(I + A)^{-1}$ are the number of paths of even length minus the number of paths of odd "
            "length, so they are 0 if both numbers are equal. On forests, as in the experiment, the entries of reached "
            "nodes are +-1. $beta = -1$ in Eq 41 gives $(I - A)^{-1}$.");
  c.because("The text argues with $(I - A)^{-1}$ and names Eq 97 only as the place where DeltaFormer inverts a matrix. "
            "A learned sign of $beta$ removes the difference, and on trees the sign does no harm.");
  c.runs({"delta_former"});
  c.takes({integer_param("n", 16, 6, 40, "nodes of the random graph"),
           real_param("p", 0.3, 0.2, 1, "probability of an edge")});
  return measure(c, [](Points &points, Seed seed, int n, double p) {
    const Parents triangle{{}, {0}, {0, 1}}; // 0 -> 2 and 0 -> 1 -> 2: one odd path and one even
    const Parents dag = random_dag(n, p, seed), trees = two_trees(32, seed);
    const Params three = labelled("0 -> 2, 0 -> 1 -> 2", 3), forest = labelled("two trees", 32);
    const Dense printed = by_layer(triangle, +1), mended = by_layer(triangle, -1), of_trees = by_layer(trees, +1);
    points.at(three).rounding(0).statement("where entries of $(I + A)^-1$ are above 0, against a search",
                                           positive(printed), reached(triangle).data);
    points.at(forest).statement("where entries of $(I + A)^-1$ are above 0, against a search", positive(of_trees),
                                reached(trees).data);
    points.at(three).obligation("entry (2, 0) of $(I - A)^-1$: two paths", mended(2, 0), 2);
    points.wrong_system("$I + A$ in place of $I - A$", printed(2, 0), 2);
    points.at(labelled("random", n))
        .rounding(4.0 * n * max_abs(paths(dag, 1).data))
        .obligation("$(I + A)^-1$, against signed path counts", by_layer(dag, +1).data, paths(dag, -1).data)
        .but_not("path counts without signs", paths(dag, 1).data);
    points.at(forest).rounding(0).obligation("where entries of $(I + A)^-1$ are not 0, against a search",
                                             positive(of_trees, true), reached(trees).data);
    points.at(three).wrong_system("where entries of $(I + A)^-1$ are not 0, in a graph in which two paths cancel",
                                  positive(printed, true), reached(triangle).data);
  });
}

/// u of one layer that is given the parent of every node: w_t = e_parent, v = 1 at root 0.
Vector mark_from_root(const Parents &parents, double beta) {
  Dense V(int(parents.size()), 1);
  V(0, 0) = 1;
  DeltaFormerRun run{"linear", "chunked"};
  run.beta = beta;
  return written(adjacency_of(parents), V, run).data;
}

Claim construction() {
  ClaimBuilder c("dag-deltaformer-construction", "000 §3.3 (training-free form of Fig 7's one layer)");
  c.says("On 32 nodes split evenly into two trees, each node encoding its parent only, one DeltaFormer layer can tell "
         "which nodes the first root reaches.");
  c.exactly("With $k_i = e_i$, $w_t = e_parent$, linear $kappa_1$, $alpha = 1$, $beta = -1$ and $v = 1$ at the root, "
            "$u_t$ is exactly 1 on the root's tree and 0 elsewhere.");
  c.because("Whether training finds such a layer is another question: fig7_training.");
  c.draws({"reachability"}), c.runs({"delta_former"});
  c.takes({integer_param("n", 32, 8, 256, "nodes of the two trees, an even number")});
  return measure(c, [](Points &points, const Protocol &protocol, int n) {
    if (n % 2) usage_error("two trees of equal size need an even number of nodes");
    for (int graph = 0; graph < (protocol.full() ? 100 : 10); ++graph) {
      const Parents parents = two_trees(n, protocol.seed, graph);
      const Dense search = reached(parents);
      Vector wanted;
      for (int t = 0; t < n; ++t) wanted.push_back(search(t, 0));
      points.at(labelled("two trees", n).set("draw", graph)).rounding(0);
      points.statement("$u_t$, against a search from root 0", mark_from_root(parents, -1), wanted);
      points.wrong_system("$beta = 1$", mark_from_root(parents, +1), wanted);
      points.wrong_system("one attention layer ($beta = 0$)", mark_from_root(parents, 0), wanted);
    }
  });
}
} // namespace

std::vector<Claim> graphs() { return {path_counts(), printed_sign(), construction()}; }
} // namespace recollect::theory
