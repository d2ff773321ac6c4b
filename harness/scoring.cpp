// SPDX-License-Identifier: Apache-2.0
#include "scoring.hpp"
#include <cmath>

namespace recollect {
namespace {

double inner(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

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

Score score_reads(const Problem &problem, const Output &output) {
  const Shape &shape = problem.sequence.shape;
  const size_t heads = shape.heads(), Dv = shape.Dv;
  const size_t count = problem.candidates.size() / (heads * Dv);
  std::vector<double> mse, cosine, accuracy;
  for (int t = 0; t < shape.T; ++t) {
    if (!problem.scored[t]) continue;
    double squares = 0, cosines = 0, right = 0;
    for (size_t head = 0; head < heads; ++head) {
      const size_t step = head * shape.T + t;
      const double *read = &output.o[step * Dv], *target = &problem.target[step * Dv];
      for (size_t i = 0; i < Dv; ++i) squares += (read[i] - target[i]) * (read[i] - target[i]);
      const double norms = std::sqrt(inner(read, read, Dv) * inner(target, target, Dv));
      if (norms > 0 && std::isfinite(norms)) cosines += inner(read, target, Dv) / norms;
      if (count) right += nearest(read, &problem.candidates[head * count * Dv], count, Dv) == problem.answer[step];
    }
    mse.push_back(squares / (heads * Dv));
    cosine.push_back(cosines / heads);
    accuracy.push_back(right / heads);
  }
  const auto mean = [](const std::vector<double> &values) {
    double sum = 0;
    for (double x : values) sum += x;
    return sum / values.size();
  };
  Score score;
  score.metrics = {{"mse", mean(mse)}, {"cosine", mean(cosine)}};
  score.series = {{"mse_by_step", mse}, {"cosine_by_step", cosine}};
  if (count) {
    score.metrics.emplace_back("accuracy", mean(accuracy));
    score.series["accuracy_by_step"] = accuracy;
  }
  return score;
}

} // namespace recollect
