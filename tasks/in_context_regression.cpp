// SPDX-License-Identifier: Apache-2.0
// In-context linear regression with noise, y_i = W x_i + noise e_i, with d dimensions and up to `rounds` d examples.
//
// After each pair (x_i, y_i), which we call an example, y_{i+1} is predicted for x_{i+1}. The prediction is compared
// with the Bayes-optimal prediction from the same examples. One sequence:
//   t      1         2         3
//   k,v    x1,y1     x2,y2     x3,y3
//   q      x2        x3        x4
//   right  W x2      W x3      W x4
//
// W and e have independent N(0, 1) entries, so that the Bayes-optimal prediction is ridge regression with the ridge
// noise^2, and predicting 0 has mean square error 1 for unit vectors x. The series have one value per round of d
// examples. "loss_past_d" is the loss of the second round, the first in which the examples determine W. For noise = 0
// the ridge is 10^-9.
#include "harness/core/task.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"
#include "tasks/steps.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  return {p.integer("sequences"), 1, steps_of(p.real("rounds") * p.integer("d"), "in_context_regression"),
          p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const Shape shape = shape_of(p);
  const size_t d = shape.Dk, dv = shape.Dv, T = shape.T;
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape;
  problem.scored.assign(T, 1);
  for (size_t b = 0; b < size_t(shape.B); ++b) {
    std::vector<double> x = Stream(seed, "in_context_regression/x", b).normals((T + 1) * d);
    normalise_rows(x, d);
    const std::vector<double> W = Stream(seed, "in_context_regression/W", b).normals(dv * d);
    const Stream noise(seed, "in_context_regression/noise", b);
    for (size_t t = 0; t <= T; ++t)
      for (size_t i = 0; i < dv; ++i) {
        const double y = inner(&W[i * d], &x[t * d], int(d));
        if (t < T) s.v.push_back(y + p.real("noise") * noise.normal(t * dv + i));
        if (t > 0) problem.target.push_back(y);
      }
    s.k.insert(s.k.end(), x.begin(), x.end() - d);
    s.q.insert(s.q.end(), x.begin() + d, x.end());
  }
  fill_gates(s, p);
  return problem;
}

/// The predictions [B,T,Dv] of ridge regression; the prediction of a step uses all examples up to this step.
std::vector<double> ridge_predictions(const Problem &problem, double ridge) {
  const Sequence &s = problem.sequence;
  const size_t d = s.shape.Dk, dv = s.shape.Dv;
  std::vector<double> predictions;
  for (size_t b = 0; b < size_t(s.shape.B); ++b) {
    std::vector<double> P(d * d, 0.0), W(dv * d, 0.0); // P: inverse of ridge I + sum x x^T; W: the estimate
    for (size_t c = 0; c < d; ++c) P[c * d + c] = 1 / ridge;
    for (size_t step = b * s.shape.T; step < (b + 1) * s.shape.T; ++step) {
      const double *x = &s.k[step * d];
      std::vector<double> gain(d);
      for (size_t c = 0; c < d; ++c) gain[c] = inner(&P[c * d], x, int(d));
      const double scale = 1 / (1 + inner(gain.data(), x, int(d)));
      for (size_t i = 0; i < d * d; ++i) P[i] -= scale * gain[i / d] * gain[i % d];
      for (size_t i = 0; i < dv; ++i) {
        const double error = s.v[step * dv + i] - inner(&W[i * d], x, int(d));
        for (size_t c = 0; c < d; ++c) W[i * d + c] += scale * error * gain[c];
        predictions.push_back(inner(&W[i * d], &s.q[step * d], int(d)));
      }
    }
  }
  return predictions;
}

/// The mean square error of each round.
std::vector<double> losses(const Problem &problem, const std::vector<double> &predictions) {
  const Shape &shape = problem.sequence.shape;
  const size_t round = size_t(shape.Dk) * shape.Dv, rounds = size_t(shape.T) / shape.Dk;
  std::vector<double> loss(rounds, 0.0);
  for (size_t i = 0; i < predictions.size(); ++i) {
    const double error = predictions[i] - problem.target[i];
    loss[i / round % rounds] += error * error / double(round * shape.B);
  }
  return loss;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  const std::vector<double> loss = losses(problem, output.o),
                            best =
                                losses(problem,
                                       ridge_predictions(problem, std::fmax(p.real("noise") * p.real("noise"), 1e-9)));
  Score result;
  result.metrics = {{"loss_late", loss.back()},  {"loss_below_d", loss[0]},  {"loss_past_d", loss[1]},
                    {"bayes_late", best.back()}, {"bayes_below_d", best[0]}, {"bayes_past_d", best[1]}};
  result.series = {{"loss_by_round", loss}, {"bayes_by_round", best}};
  return result;
}

} // namespace

Task in_context_regression() {
  Task t;
  t.summary = "predict a noisy linear function from fewer and from more examples than it has dimensions";
  t.source = "Garg et al. 2022, arXiv 2208.01066";
  t.params = with_gates({integer_param("sequences", 8, 1, 1e6, "independent functions (batch)"),
                         integer_param("d", 16, 1, 65536, "dimensions of $x$"),
                         integer_param("dv", 4, 1, 65536, "dimensions of $y$"),
                         integer_param("rounds", 4, 2, 1e6, "examples per dimension; $T$ = rounds $d$"),
                         real_param("noise", 0.5, 0, 1e6,
                                    "standard deviation of the noise on $y$; $y$ itself has standard deviation 1")});
  t.metrics = {{"loss_late", Metric::smaller},
               {"loss_below_d", Metric::smaller},
               {"loss_past_d", Metric::smaller},
               {"bayes_late"},
               {"bayes_below_d"},
               {"bayes_past_d"}};
  t.ends = [](const Params &) { return Ends{1, 0}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
