// SPDX-License-Identifier: Apache-2.0
// Texts of embedded tokens, in which only some steps ask for an answer.
#pragma once
#include "harness/core/task.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {

/// A problem whose q, k, v and targets are zeros and whose steps have no answer yet. The candidates of every text are
/// the rows of `embeddings`; the gates follow from the task's parameters. All texts are scored where they have an
/// answer.
inline Problem text_problem(const Shape &shape, const std::vector<double> &embeddings, const Params &p) {
  const size_t steps = shape.heads() * size_t(shape.T);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape;
  s.q = s.k = s.v = problem.target = std::vector<double>(steps * size_t(shape.Dk), 0.0);
  problem.answer.assign(steps, -1);
  problem.scored.assign(shape.T, 1);
  append(problem.candidates, embeddings, int(shape.heads()));
  fill_gates(s, p);
  return problem;
}

/// score_reads() without the curves over steps, for texts that ask for answers at different steps, or at a single step.
inline Score score_without_curves(const Params &, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  result.series.clear();
  return result;
}

} // namespace recollect::tasks
