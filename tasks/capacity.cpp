// SPDX-License-Identifier: Apache-2.0
// Capacity (002 §3, 000 §2.1): the largest n for which 99% of n stored pairs are recalled. A read is decoded as the
// nearest value; values are unit vectors.
//
// Example of three steps. After each write one of the pairs written so far is queried, so that step n tests a memory of
// n pairs:
//   t      1      2      3
//   k,v    k1,a   k2,b   k3,c
//   q      k1     k1     k2
//   o  ->  a      a      b      decoded among {a}, {a,b}, {a,b,c}
//
// So one pass covers every n up to `most`, and "accuracy_by_step" is accuracy against n. "capacity" is found by
// bisection over n. The accuracy at n is measured on the reads at steps n - window + 1 ... n of all memories. "reached"
// is 0 if even `most` pairs were recalled; capacity is then a lower bound. "capacity_ratio" is capacity / d.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"
#include <algorithm>

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  return {p.integer("memories"), 1, p.integer("most"), p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), T = p.integer("most"), d = p.integer("d"), dv = p.integer("dv");
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  s.k = make_keys({p.text("keys"), T, d, p.real("cosine")}, memories, seed);
  s.v = Stream(seed, "capacity/values").normals(size_t(memories) * T * dv);
  normalise_rows(s.v, dv);
  problem.candidates = s.v;
  s.q.resize(s.k.size()), problem.target.resize(s.v.size());
  problem.answer.resize(size_t(memories) * T);
  problem.scored.assign(T, 1);
  fill_gates(s, p);
  const Stream ask(seed, "capacity/ask");
  for (size_t step = 0; step < problem.answer.size(); ++step) {
    const size_t t = step % T, asked = ask.below(step, t + 1);
    problem.answer[step] = int(asked);
    copy_row(s.k, step - t + asked, s.q, step, d);
    copy_row(s.v, step - t + asked, problem.target, step, dv);
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  const Shape &shape = problem.sequence.shape;
  const int window = p.integer("window");
  std::vector<double> accuracy(shape.T, 0.0);
  for (size_t head = 0; head < shape.heads(); ++head)
    for (int t = 0; t < shape.T; ++t)
      accuracy[t] += score_read(problem, output, head, t, t + 1).right / double(shape.heads());
  const auto recalled = [&](int n) { return mean_of_range(accuracy, std::max(0, n - window), n) >= p.real("level"); };
  int enough = 0, too_many = shape.T + 1; // n = `enough` pairs are recalled, `too_many` are not
  while (too_many - enough > 1) {
    const int n = (enough + too_many) / 2;
    (recalled(n) ? enough : too_many) = n;
  }
  Score result;
  result.metrics = {{"capacity", double(enough)},
                    {"capacity_ratio", double(enough) / shape.Dk},
                    {"reached", double(enough < shape.T)},
                    {"accuracy", accuracy.back()}};
  result.series = {{"accuracy_by_step", accuracy}};
  return result;
}

} // namespace

Task capacity() {
  Task t;
  t.summary = "the number of pairs at which 99% are still recalled";
  t.source = "002 §3-5, 000 §2.1";
  t.params = with_gates(
      {integer_param("memories", 64, 1, 1e6, "independent memories (batch)"),
       integer_param("most", 128, 1, 1e7, "largest $n$ tried"), integer_param("d", 16, 1, 65536, "key width"),
       integer_param("dv", 64, 1, 65536, "value width"),
       integer_param("window", 8, 1, 1e6, "number of neighbouring $n$ over which an accuracy is averaged"),
       real_param("level", 0.99, 0, 1, "accuracy that counts as recalled"), keys_param("unit"), cosine_param(0.5)});
  t.metrics = {{"capacity", Metric::larger}, {"capacity_ratio", Metric::larger}, {"reached", Metric::larger}, accuracy};
  t.ends = [](const Params &p) {
    const int window = p.integer("window"), most = p.integer("most");
    const auto guessed = [&](int n) { // accuracy of a guess among n values, averaged over the window
      double right = 0;
      const int first = std::max(0, n - window);
      for (int i = first; i < n; ++i) right += 1.0 / (i + 1) / (n - first);
      return right;
    };
    int n = 0;
    while (n < most && guessed(n + 1) >= p.real("level")) ++n;
    return Ends{double(n), double(most)};
  };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
