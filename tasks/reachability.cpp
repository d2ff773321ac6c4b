// SPDX-License-Identifier: Apache-2.0
// Reachability (000 §3.3): N nodes in two trees, in topological order. Each step gives only the parent of its node.
// Which root reaches the node?
//
// Example with roots 1 and 2 and edges 1 -> 3 and 3 -> 4 (e: node embeddings, a and b: the roots' values):
//   t      1     2     3     4
//   k,q    e1    e2    e3    e4
//   v      a     b     0     0
//   w      e1    e2    e1    e3      the lookup key: the parent, and the node itself for a root
//   o  ->  a     b     -a    a
//
// With u_t = v_t - beta sum_i kappa(k_i, w_t) u_i (000 Eq 41), u is (I + beta A)^{-1} v for the adjacency matrix A. So
// a node at depth n holds (-beta)^n times its root's value, and the matrix inverse finds the root at any depth in one
// pass. In a tree only one path leads to each node, hence nothing cancels (000 Eq 97 in general needs beta = -1). The
// answer is the root whose value has the larger |inner product| with the read. Only w contains the edges: a variant
// without the input w does not see the graph.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  return {p.integer("graphs"), 1, p.integer("nodes"), p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int graphs = p.integer("graphs"), nodes = p.integer("nodes"), d = p.integer("d"), dv = p.integer("dv");
  const double beta = p.real("beta");
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  s.k = make_keys({p.text("keys"), nodes, d, p.real("cosine")}, graphs, seed);
  s.q = s.w = s.k;
  s.v.assign(size_t(graphs) * nodes * dv, 0.0), problem.target = s.v;
  problem.scored.assign(nodes, 1);
  std::fill_n(problem.scored.begin(), 2, 0); // the roots' own values are given
  problem.answer.assign(size_t(graphs) * nodes, -1);
  problem.candidates = Stream(seed, "reachability/values").normals(size_t(graphs) * 2 * dv);
  normalise_rows(problem.candidates, dv);
  fill_gates(s, p);
  const Stream draw(seed, "reachability/parents");
  for (int g = 0; g < graphs; ++g) {
    const size_t first = size_t(g) * nodes;
    std::vector<int> tree(nodes), length(nodes, 0);
    std::vector<std::vector<int>> members(2);
    for (int t = 0; t < nodes; ++t) {
      const size_t step = first + t;
      tree[t] = t < 2 ? t : int(draw.below(3 * step, 2));
      std::vector<int> &family = members[tree[t]];
      if (t < 2) {
        copy_row(problem.candidates, size_t(g) * 2 + t, s.v, step, dv);
      } else {
        const int parent = p.text("shape") == "paths" ? family.back() : family[draw.below(3 * step + 1, family.size())];
        length[t] = length[parent] + 1;
        copy_row(s.k, first + parent, s.w, step, d);
      }
      family.push_back(t);
      problem.answer[step] = tree[t];
      for (int c = 0; c < dv; ++c)
        problem.target[step * dv + c] =
            std::pow(-beta, length[t]) * problem.candidates[(size_t(g) * 2 + tree[t]) * dv + c];
    }
  }
  return problem;
}

/// The answer is the root with the larger |o . value of the root|. If both are equal, the answer is wrong.
bool finds_root(const Problem &problem, const Output &output, size_t head, int t) {
  const Shape &shape = problem.sequence.shape;
  const size_t step = head * shape.T + t;
  double product[2] = {0, 0};
  for (int root : {0, 1})
    for (int c = 0; c < shape.Dv; ++c)
      product[root] += output.o[step * shape.Dv + c] * problem.candidates[(head * 2 + root) * shape.Dv + c];
  const int right = problem.answer[step];
  return std::fabs(product[right]) > std::fabs(product[1 - right]);
}

Score score(const Params &, const Problem &problem, const Output &output) {
  const Score reads = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  std::vector<double> found(shape.T - 2, 0.0);
  for (int t = 2; t < shape.T; ++t)
    for (size_t head = 0; head < shape.heads(); ++head)
      found[t - 2] += finds_root(problem, output, head, t) / double(shape.heads());
  Score result;
  result.metrics = {reads.metrics[0], reads.metrics[1], {"accuracy", mean_of_range(found, 0, found.size())}};
  result.series = {{"accuracy_by_step", found}, {"mse_by_step", reads.series.at("mse_by_step")}};
  return result;
}

} // namespace

Task reachability() {
  Task t;
  t.summary = "two trees over $N$ nodes, given as the parent of each node: which root reaches each node?";
  t.source = "000 §3.3, Eq 97";
  t.params = with_gates({integer_param("graphs", 16, 1, 1e6, "independent graphs (batch)"),
                         integer_param("nodes", 32, 3, 1e7, "nodes of both trees"),
                         integer_param("d", 32, 1, 65536, "key width"),
                         integer_param("dv", 16, 1, 65536, "value width"), keys_param("orthonormal"), cosine_param(0.1),
                         choice_param("shape", {"random", "paths"},
                                      "parents drawn among all earlier nodes of the tree, or the last one")});
  t.metrics = {accuracy, mse, cosine};
  t.ends = [](const Params &) { return Ends{0.5, 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  t.meaningless = [](const Variant &variant, const Params &) {
    for (const Input &input : variant.inputs)
      if (input.name == "w") return std::string();
    return std::string("the edges are in the lookup key w, which this variant does not read");
  };
  return t;
}

} // namespace recollect::tasks
