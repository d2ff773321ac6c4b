// SPDX-License-Identifier: Apache-2.0
// Writing the same pair again (002 §4-5): the delta rule should change nothing, but a sum doubles the stored value.
//
// Example with one other pair and 3 writes of the pair (k,v), asked for k throughout:
//   t      1        2       3       4
//   k,v    k1,v1    k,v     k,v     k,v
//   q      k        k       k       k
//   o  ->           v       v       v      a sum gives v, 2v, 3v
//
// The series "amplitude_by_write" is the amplitude <o,v> / |v|^2 of each read, averaged over memories. With orthonormal
// keys the other pairs do not contribute to it.
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  return {p.integer("memories"), 1, p.integer("others") + p.integer("writes"), p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), others = p.integer("others");
  const int d = p.integer("d"), dv = p.integer("dv"), T = shape_of(p).T, pairs = others + 1;
  const std::vector<double> keys = make_keys({p.text("keys"), pairs, d, p.real("cosine")}, memories, seed);
  const std::vector<double> values = Stream(seed, "duplicate_write/values").normals(size_t(memories) * pairs * dv);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  s.q.resize(size_t(memories) * T * d), s.k = s.q;
  s.v.resize(size_t(memories) * T * dv), problem.target = s.v;
  problem.scored.assign(T, 1);
  std::fill_n(problem.scored.begin(), others, 0);
  fill_gates(s, p);
  for (int m = 0; m < memories; ++m)
    for (int t = 0; t < T; ++t) {
      const size_t step = size_t(m) * T + t, repeated = size_t(m) * pairs + others;
      const size_t written = size_t(m) * pairs + std::min(t, others);
      copy_row(keys, written, s.k, step, d);
      copy_row(values, written, s.v, step, dv);
      copy_row(keys, repeated, s.q, step, d);
      copy_row(values, repeated, problem.target, step, dv);
    }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  const int others = p.integer("others"), writes = p.integer("writes");
  std::vector<double> amplitude(writes, 0.0);
  for (int m = 0; m < shape.B; ++m)
    for (int w = 0; w < writes; ++w) {
      const size_t row = (size_t(m) * shape.T + others + w) * shape.Dv;
      double product = 0, square = 0;
      for (int c = 0; c < shape.Dv; ++c) {
        product += output.o[row + c] * problem.target[row + c];
        square += problem.target[row + c] * problem.target[row + c];
      }
      amplitude[w] += product / square / shape.B;
    }
  result.metrics.emplace_back("amplitude_first", amplitude[0]);
  result.metrics.emplace_back("amplitude_second", amplitude[1]);
  result.metrics.emplace_back("amplitude_last", amplitude.back());
  result.series = {{"amplitude_by_write", amplitude}};
  return result;
}

} // namespace

Task duplicate_write() {
  Task t;
  t.summary = "write one pair again and again: does its stored value grow?";
  t.source = "002 §4-5";
  t.params = with_gates(
      {integer_param("memories", 16, 1, 1e6, "independent memories (batch)"),
       integer_param("others", 8, 0, 1e6, "pairs written before"),
       integer_param("writes", 8, 2, 1e7, "writes of the repeated pair"), integer_param("d", 16, 1, 65536, "key width"),
       integer_param("dv", 16, 1, 65536, "value width"), keys_param("orthonormal"), cosine_param(0.5)});
  t.metrics = {mse, cosine, {"amplitude_first"}, {"amplitude_second"}, {"amplitude_last"}};
  t.ends = [](const Params &) { return Ends{1, 0}; }; // values have unit variance
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
