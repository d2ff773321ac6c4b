// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/scoring.hpp"
#include "harness/numerics/linalg.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

int nearest(const double *read, const double *candidates, size_t count, int Dv) {
  int best = -1;
  double best_score = -INFINITY;
  for (size_t c = 0; c < count; ++c) {
    const double score = inner(read, candidates + c * Dv, Dv);
    if (score > best_score) best_score = score, best = int(c);
  }
  return best;
}

} // namespace

bool is_asked(const Problem &problem, size_t head, int t) {
  return problem.scored[t] && (problem.answer.empty() || problem.answer[head * problem.sequence.shape.T + t] >= 0);
}

Read score_read(const Problem &problem, const Output &output, size_t head, int t, size_t among) {
  const Shape &shape = problem.sequence.shape;
  const int Dv = shape.Dv;
  const size_t step = head * shape.T + t, count = problem.candidates.size() / (shape.heads() * Dv);
  const double *o = &output.o[step * Dv], *target = &problem.target[step * Dv];
  Read read;
  for (int i = 0; i < Dv; ++i) read.square_error += (o[i] - target[i]) * (o[i] - target[i]);
  const double norms = std::sqrt(inner(o, o, Dv)) * std::sqrt(inner(target, target, Dv));
  if (!std::isfinite(norms)) return read;
  if (norms > 0) read.cosine = inner(o, target, Dv) / norms;
  if (count == 0) return read;
  read.chosen = nearest(o, &problem.candidates[head * count * Dv], std::min(count, among), Dv);
  read.right = read.chosen == problem.answer[step];
  return read;
}

Score score_reads(const Problem &problem, const Output &output) {
  const Shape &shape = problem.sequence.shape;
  Score score;
  double reads = 0, square_error = 0, cosine_sum = 0, right = 0;
  for (int t = 0; t < shape.T; ++t) {
    double asked = 0, squares = 0, cosines = 0, rights = 0;
    for (size_t head = 0; head < shape.heads(); ++head) {
      if (!is_asked(problem, head, t)) continue;
      const Read read = score_read(problem, output, head, t);
      ++asked, squares += read.square_error, cosines += read.cosine, rights += read.right;
    }
    if (asked == 0) continue;
    reads += asked, square_error += squares, cosine_sum += cosines, right += rights;
    score.series["mse_by_step"].push_back(squares / (asked * shape.Dv));
    score.series["cosine_by_step"].push_back(cosines / asked);
    if (!problem.candidates.empty()) score.series["accuracy_by_step"].push_back(rights / asked);
  }
  if (reads == 0) return score;
  score.metrics = {{"mse", square_error / (reads * shape.Dv)}, {"cosine", cosine_sum / reads}};
  if (!problem.candidates.empty()) score.metrics.emplace_back("accuracy", right / reads);
  return score;
}

} // namespace recollect
