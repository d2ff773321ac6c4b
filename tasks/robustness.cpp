// SPDX-License-Identifier: Apache-2.0
// Recall from corrupted writes: keys and values that are noisy, lack channels, or are scaled up (the three tests of
// EFLA).
//
// Example with n = 3, asked for the second pair (k', v': corrupted):
//   t      1         2         3
//   k,v    k1',v1'   k2',v2'   k3',v3'
//   q      k1        k2        k2         <- the read after the last write is scored; v2 should be the nearest
//
// The batch is divided into levels. Level l is corrupted with the strength s = most l / (levels - 1), which is
//   noise   the root mean square length of the added noise; keys and values have length 1
//   drop    the probability with which a channel is set to 0
//   scale   the factor 1 + s on keys and values; a delta rule with beta = 1 is unstable from |k|^2 = 2 on, s = 0.41
// All levels have the same pairs and the same random numbers; only the strength differs. Queries are not corrupted, and
// decoding chooses among the uncorrupted values. The series have one value per level.
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  return {p.integer("levels") * p.integer("memories"), 1, p.integer("n"), p.integer("d"), p.integer("d")};
}

/// Corrupts rows of width d. All strengths use the same random numbers, from index 0 of the stream.
void corrupt(std::vector<double> &rows, const std::string &kind, double strength, int d, const Stream &draw) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (kind == "noise") rows[i] += strength / std::sqrt(d) * draw.normal(i);
    if (kind == "drop" && draw.uniform(i) < strength) rows[i] = 0;
    if (kind == "scale") rows[i] *= 1 + strength;
  }
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int levels = p.integer("levels"), memories = p.integer("memories"), n = p.integer("n"), d = p.integer("d");
  const std::string &kind = p.text("corruption");
  if (kind == "drop" && p.real("most") > 1)
    usage_error("robustness: with corruption=drop the parameter most is a probability and cannot exceed 1");
  const std::vector<double> keys = make_keys({p.text("keys"), n, d, p.real("cosine")}, memories, seed);
  std::vector<double> values = Stream(seed, "robustness/values").normals(size_t(memories) * n * d);
  normalise_rows(values, d);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  append(s.q, keys, levels);
  append(problem.candidates, values, levels);
  for (int level = 0; level < levels; ++level) {
    const double strength = levels > 1 ? p.real("most") * level / (levels - 1) : p.real("most");
    std::vector<double> k = keys, v = values;
    corrupt(k, kind, strength, d, Stream(seed, "robustness/keys"));
    corrupt(v, kind, strength, d, Stream(seed, "robustness/corrupted_values"));
    append(s.k, k), append(s.v, v);
  }
  fill_gates(s, p);
  problem.target.assign(s.v.size(), 0.0);
  problem.answer.assign(s.shape.heads() * n, -1);
  problem.scored.assign(n, 0);
  problem.scored[n - 1] = 1;
  const Stream ask(seed, "robustness/ask");
  for (size_t b = 0; b < s.shape.heads(); ++b) {
    const size_t m = b % memories, asked = ask.below(m, n), last = b * n + n - 1;
    copy_row(keys, m * n + asked, s.q, last, d);
    copy_row(values, m * n + asked, problem.target, last, d);
    problem.answer[last] = int(asked);
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const int levels = p.integer("levels"), memories = p.integer("memories");
  std::vector<double> accuracy(levels, 0.0);
  for (int b = 0; b < problem.sequence.shape.B; ++b)
    accuracy[b / memories] += double(score_read(problem, output, b, problem.sequence.shape.T - 1).right) / memories;
  result.metrics.emplace_back("clean_accuracy", accuracy.front());
  result.metrics.emplace_back("corrupted_accuracy", accuracy.back());
  result.series = {{"accuracy_by_level", accuracy}};
  return result;
}

} // namespace

Task robustness() {
  Task t;
  t.summary = "recall from writes with noise, with channels dropped, or scaled up";
  t.source = "EFLA, arXiv 2512.12602 (trained on sequential MNIST), here with an untrained memory";
  t.params = with_gates({integer_param("memories", 16, 1, 1e6, "independent memories per level"),
                         integer_param("levels", 5, 1, 1000, "number of strengths, from 0 up in equal steps"),
                         real_param("most", 0.9, 0, 1e6, "the largest strength"),
                         choice_param("corruption", {"noise", "drop", "scale"},
                                      "add noise, drop channels, or multiply by $1 + s$, where $s$ is the strength"),
                         integer_param("n", 16, 1, 1e6, "stored pairs"),
                         integer_param("d", 32, 1, 65536, "width of keys and values"), keys_param("orthonormal"),
                         cosine_param(0.5)});
  t.metrics = {accuracy, mse, cosine, {"clean_accuracy", Metric::larger}, {"corrupted_accuracy", Metric::larger}};
  t.ends = [](const Params &p) { return Ends{1 / p.real("n"), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
