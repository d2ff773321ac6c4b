// SPDX-License-Identifier: Apache-2.0
// Growth of the memory (004 §6.2, Prop 1; 002 §2): how the norm of S grows with t, for one kind of input.
//
//   inputs      keys and values                                                         a sum grows as
//   zero_mean   N(0, I/d)                                                               sqrt(t)
//   bounded     uniform on the unit sphere                                              sqrt(t)
//   biased      unit, all with a common direction at squared cosine `bias`              t
//
// Example with d = 2, seen by its two heads (e: unit axes):
//   t      1      2      3
//   k,v    k1,v1  k2,v2  k3,v3
//   q      e1     e1     e1     head 1      sum over heads of |o_t|^2 = |S_t|_F^2 for a read o = S q
//   q      e2     e2     e2     head 2
//
// So "norm_by_step" is the Frobenius norm of the read map, as root mean square over memories. "growth" is its exponent,
// the slope of log norm against log t over the second half. "state_norm" is the norm of the final state's first Dv rows
// (S), and "extra_norm" is the norm of the rows below them (a normaliser, momentum, or the inverse A_t of 003 and 004;
// 0 if there are none). Both are values at the final step; for their growth, run the task at several T.
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "harness/numerics/statistics.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

std::vector<double> inputs(const Params &p, int width, std::uint64_t seed) {
  const std::string &kind = p.text("inputs");
  const int T = p.integer("T");
  std::vector<double> rows = make_keys({kind == "zero_mean" ? "gaussian"
                                        : kind == "bounded" ? "unit"
                                                            : "correlated",
                                        T, width, p.real("bias")},
                                       p.integer("memories"), seed);
  if (kind == "zero_mean")
    for (double &x : rows) x /= std::sqrt(double(width));
  return rows;
}

Shape shape_of(const Params &p) {
  return {p.integer("memories"), p.integer("d"), p.integer("T"), p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), T = p.integer("T"), d = p.integer("d"), dv = p.integer("dv");
  const std::vector<double> keys = inputs(p, d, 2 * seed), values = inputs(p, dv, 2 * seed + 1);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  for (int m = 0; m < memories; ++m)
    for (int h = 0; h < d; ++h) {
      s.k.insert(s.k.end(), keys.begin() + size_t(m) * T * d, keys.begin() + size_t(m + 1) * T * d);
      s.v.insert(s.v.end(), values.begin() + size_t(m) * T * dv, values.begin() + size_t(m + 1) * T * dv);
      for (int t = 0; t < T; ++t)
        for (int c = 0; c < d; ++c) s.q.push_back(c == h);
    }
  fill_gates(s, p);
  problem.scored.assign(T, 1);
  return problem;
}

/// Norm of rows [begin, end) of the final state of the first head, as root mean square over memories.
double state_norm(const Output &output, const Shape &shape, int begin, int end) {
  const size_t columns = output.state_shape.columns, size = output.state_shape.size();
  double square = 0;
  for (int m = 0; m < shape.B; ++m)
    for (size_t i = begin * columns; i < end * columns; ++i) {
      const double x = output.state[size_t(m) * shape.H * size + i];
      square += x * x;
    }
  return std::sqrt(square / shape.B);
}

Score score(const Params &, const Problem &problem, const Output &output) {
  const Shape &shape = problem.sequence.shape;
  std::vector<double> norm(shape.T, 0.0), log_norm, log_t;
  for (size_t i = 0; i < output.o.size(); ++i) norm[i / shape.Dv % shape.T] += output.o[i] * output.o[i] / shape.B;
  for (int t = 0; t < shape.T; ++t) {
    norm[t] = std::sqrt(norm[t]);
    if (t >= shape.T / 2 && norm[t] > 0) log_norm.push_back(std::log(norm[t])), log_t.push_back(std::log(t + 1.0));
  }
  const int S = std::min(shape.Dv, output.state_shape.rows);
  Score result;
  result.metrics = {{"norm", norm.back()},
                    {"growth", log_t.size() > 1 ? fitted_slope(log_t, log_norm).mean : 0},
                    {"state_norm", state_norm(output, shape, 0, S)},
                    {"extra_norm", state_norm(output, shape, S, output.state_shape.rows)}};
  result.series = {{"norm_by_step", norm}};
  return result;
}

} // namespace

Task state_growth() {
  Task t;
  t.summary = "the norm of the memory over time for zero-mean, bounded or biased inputs";
  t.source = "004 §4.1, Prop 1, §6.2, Fig 4; 002 §2";
  t.params = with_gates(
      {integer_param("memories", 2, 1, 1e6, "independent memories (batch)"), integer_param("T", 256, 4, 1e8, "steps"),
       integer_param("d", 16, 1, 65536, "key width, which is also the number of heads that read"),
       integer_param("dv", 16, 1, 65536, "value width"),
       choice_param("inputs", {"biased", "zero_mean", "bounded"}, "distribution of keys and values"),
       real_param("bias", 0.5, 0, 1, "mean cosine between two biased keys, and between two biased values")});
  t.metrics = {{"norm"}, {"growth"}, {"state_norm"}, {"extra_norm"}};
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  t.meaningless = [](const Variant &variant, const Params &) {
    const bool finite = variant.state_shape({1, 1, 4, 4, 4}, resolve(variant.params, {}, variant.name)).size() > 0;
    return finite ? "" : "it has no finite state, and so no norm to follow";
  };
  return t;
}

} // namespace recollect::tasks
