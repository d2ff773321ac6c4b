// SPDX-License-Identifier: Apache-2.0
// State exchange (000 Theorem 1): n keys hold n values. Each further step exchanges the values of two keys by writing k
// = k_i - k_j with v = 0 and beta = 1. Reads use a separate q, so that reading never writes.
//
// Example with n = 3, swaps (2,1) then (3,1), seen by the head that follows key 1:
//   t      1        2        3        4          5
//   k,v    k1,v1    k2,v2    k3,v3    k2-k1,0    k3-k1,0
//   q      k1       k1       k1       k1         k1
//   right  -        -        -        v2         v3
//
// Batch elements are independent memories. With read = state, head h follows key h, and the state is right at a step if
// all n heads are right. With read = one, a single head asks for a random key at every swap. The theorem assumes j < i,
// so that no erase meets an inner product near -2; order = any also draws j > i. Values are unit vectors, so that the
// nearest one has the largest inner product.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/swaps.hpp"
#include <cmath>

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  const int n = p.integer("n"), heads = p.text("read") == "state" ? n : 1;
  return {p.integer("memories"), heads, n + p.integer("swaps"), p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), n = p.integer("n"), d = p.integer("d");
  const int dv = p.integer("dv"), T = shape_of(p).T, heads = shape_of(p).H;
  const std::vector<double> keys = make_keys({p.text("keys"), n, d, p.real("cosine")}, memories, seed);
  std::vector<double> values = Stream(seed, "swap/values").normals(size_t(memories) * n * dv);
  normalise_rows(values, dv);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  const size_t steps = s.shape.heads() * T;
  s.q.resize(steps * d), s.k.resize(steps * d);
  s.v.assign(steps * dv, 0.0), problem.target.assign(steps * dv, 0.0);
  fill_gates(s, p);
  problem.scored.assign(T, 0);
  std::fill(problem.scored.begin() + n, problem.scored.end(), 1);
  problem.answer.assign(steps, 0);
  for (int m = 0; m < memories; ++m) {
    fill_swaps(problem, m, {n, &keys[size_t(m) * n * d], &values[size_t(m) * n * dv], p.text("order") == "theorem"},
               seed);
    for (int h = 0; h < heads; ++h)
      problem.candidates.insert(problem.candidates.end(), values.begin() + size_t(m) * n * dv,
                                values.begin() + size_t(m + 1) * n * dv);
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  const int n = p.integer("n");
  double exact = 0, horizon = 0, largest_error = 0;
  std::vector<double> by_step(shape.T - n, 0.0);
  for (int m = 0; m < shape.B; ++m) {
    bool unbroken = true;
    for (int t = n; t < shape.T; ++t) {
      bool right = true;
      for (size_t head = size_t(m) * shape.H; head < size_t(m + 1) * shape.H; ++head) {
        const Read read = score_read(problem, output, head, t);
        right = right && read.right;
        largest_error = std::fmax(largest_error, std::sqrt(read.square_error));
      }
      unbroken = unbroken && right;
      by_step[t - n] += double(right) / shape.B;
      exact += right, horizon += unbroken;
    }
  }
  result.metrics.emplace_back("state_accuracy", exact / (shape.B * by_step.size()));
  result.metrics.emplace_back("horizon", horizon / shape.B);
  result.metrics.emplace_back("largest_error", largest_error);
  result.series["state_accuracy_by_step"] = by_step;
  return result;
}

} // namespace

Task swap() {
  Task t;
  t.summary = "exchange the values of two keys at every step and keep the whole assignment right";
  t.source = "000 Theorem 1, Lemma 1, §3.2";
  t.params = with_gates(
      {integer_param("memories", 2, 1, 1e6, "independent memories (batch)"), integer_param("n", 16, 2, 65536, "keys"),
       integer_param("swaps", 48, 1, 1e8, "swaps after the $n$ writes"), integer_param("d", 16, 1, 65536, "key width"),
       integer_param("dv", 16, 1, 65536, "value width"), keys_param("equicorrelated"), cosine_param(0.1),
       choice_param("order", {"theorem", "any"}, "erase keys are $k_i - k_j$ with $j < i$ only, or of either sign"),
       choice_param("read", {"state", "one"},
                    "what is read: the state (every key, each by a separate head), or one random key")});
  t.metrics = {{"state_accuracy", Metric::larger}, accuracy, mse, cosine, {"horizon", Metric::larger},
               {"largest_error", Metric::smaller}};
  t.ends = [](const Params &p) { // chance: every head guesses one of n values
    const double n = p.real("n");
    return Ends{p.text("read") == "state" ? std::pow(n, -n) : 1 / n, 1};
  };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
