// SPDX-License-Identifier: Apache-2.0
// Stress test of state exchange (000 §3.2, Fig 5) without training: d, 2d, 4d, ... keys at one width. It shows the
// difference between the linear similarity and rounding.
//
// After the writes, the steps are as in the task swap, k = k_i - k_j and v = 0, and one random key is asked for at
// every swap. Level l of the batch has n = d 2^l keys; all levels have the same T, so that levels with fewer keys see
// more swaps:
//   level   n     t = 1 ... n        t = n+1 ... T            scored
//   0       d     writes             swaps                    the last `swaps` steps
//   1       2d    writes             swaps                    the last `swaps` steps
//
// keys = structured: the standard basis and Hadamard rows up to 2d (coherence 1/sqrt(d)); beyond that, packed keys with
// inner products of at most 0.124. Theorem 1 needs coherence below 1/8. Sets of up to 2d keys have it for d > 64, and
// 4d packed keys have it at d = 128. The series have one value per level.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"
#include "tasks/steps.hpp"
#include "tasks/swaps.hpp"
#include <cmath>

namespace recollect::tasks {
namespace {

std::vector<double> level_keys(const Params &p, int n, std::uint64_t seed) {
  const int d = p.integer("d");
  const std::string kind = p.text("keys") == "unit" ? "unit" : n <= 2 * d ? "hadamard" : "packed";
  return make_keys({kind, n, d, 0.124}, 1, seed);
}

Shape shape_of(const Params &p) {
  const int levels = p.integer("levels"), T = steps_of(std::ldexp(p.real("d"), levels - 1) + p.real("swaps"), "stress");
  return {levels * p.integer("memories"), 1, T, p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int levels = p.integer("levels"), memories = p.integer("memories"), d = p.integer("d"), dv = p.integer("dv");
  const int most = d << (levels - 1), T = shape_of(p).T;
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  const size_t steps = s.shape.heads() * T;
  s.q.resize(steps * d), s.k.resize(steps * d);
  s.v.assign(steps * dv, 0.0), problem.target.assign(steps * dv, 0.0);
  problem.answer.assign(steps, 0);
  problem.scored.assign(T, 1);
  std::fill_n(problem.scored.begin(), most, 0);
  fill_gates(s, p);
  // all levels share the first candidates; candidates that a level does not use are never chosen
  std::vector<double> values = Stream(seed, "stress/values").normals(size_t(most) * dv);
  normalise_rows(values, dv);
  for (int level = 0; level < levels; ++level) {
    const int n = d << level;
    const std::vector<double> keys = level_keys(p, n, seed);
    std::vector<double> choices(values.begin(), values.begin() + size_t(n) * dv);
    choices.resize(values.size(), 0.0);
    for (int m = 0; m < memories; ++m) {
      fill_swaps(problem, level * memories + m, {n, keys.data(), values.data(), true}, seed);
      append(problem.candidates, choices);
    }
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const int levels = p.integer("levels"), memories = p.integer("memories"), swaps = p.integer("swaps");
  const Shape &shape = problem.sequence.shape;
  std::vector<double> accuracy(levels, 0.0), error(levels, 0.0);
  for (int b = 0; b < shape.B; ++b)
    for (int t = shape.T - swaps; t < shape.T; ++t) {
      const Read read = score_read(problem, output, b, t);
      accuracy[b / memories] += double(read.right) / (memories * swaps);
      error[b / memories] += std::sqrt(read.square_error) / (memories * swaps);
    }
  result.metrics.emplace_back("accuracy_smallest", accuracy.front());
  result.metrics.emplace_back("accuracy_largest", accuracy.back());
  result.series = {{"accuracy_by_level", accuracy}, {"error_by_level", error}};
  return result;
}

} // namespace

Task stress() {
  Task t;
  t.summary = "state exchange with $d, 2 d, 4 d, ...$ keys at one width";
  t.source = "000 §3.2, Fig 5";
  t.params = with_gates(
      {integer_param("memories", 1, 1, 1e6, "independent memories per level"),
       integer_param("levels", 2, 1, 16, "numbers of keys: $d, 2 d, ..., d 2^(levels-1)$"),
       integer_param("d", 128, 2, 65536, "key width, a power of two for structured keys"),
       integer_param("dv", 32, 1, 65536, "value width"),
       integer_param("swaps", 128, 1, 1e8, "number of scored swaps, which follow the writes of the largest n"),
       choice_param("keys", {"structured", "unit"}, "almost orthogonal sets, or random unit vectors")});
  t.metrics = {accuracy, mse, cosine, {"accuracy_smallest", Metric::larger}, {"accuracy_largest", Metric::larger}};
  t.ends = [](const Params &p) { // chance: a guess among the d 2^l values of level l
    const double levels = p.real("levels");
    return Ends{2 * (1 - std::exp2(-levels)) / (levels * p.real("d")), 1};
  };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
