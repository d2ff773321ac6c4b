// SPDX-License-Identifier: Apache-2.0
// Re-binding (002 §4): n keys are written again and again with new values. Each key should answer with its latest
// value.
//
// Example with n = 2 keys at 60 degrees and 2 rounds, seen by the head that asks for key 1 after the last write:
//   t      1       2       3       4
//   k,v    k1,a    k2,b    k2,c    k1,d
//   q      k1      k1      k1      k1    <- scored: should be d; a is stale
//
// Any two keys of a memory have the same inner product, the cosine of an angle. The angle decreases in equal steps over
// the batch, from 90 degrees (nothing interferes) to `closest`; the series have one value per angle. Head h asks for
// key h. Decoding chooses among all values ever written; "stale" is the fraction of reads that return an earlier value
// of the right key.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"
#include "tasks/steps.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  const int n = p.integer("n");
  return {p.integer("angles") * p.integer("memories"), n, steps_of(p.real("rounds") * n, "overwrite"), p.integer("d"),
          p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), angles = p.integer("angles"), n = p.integer("n"),
            rounds = p.integer("rounds");
  const int d = p.integer("d"), dv = p.integer("dv"), T = shape_of(p).T;
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  const size_t steps = s.shape.heads() * T;
  s.q.resize(steps * d), s.k.resize(steps * d), s.v.resize(steps * dv);
  problem.target.assign(steps * dv, 0.0), problem.answer.assign(steps, -1);
  problem.scored.assign(T, 0), problem.scored[T - 1] = 1;
  fill_gates(s, p);
  std::vector<double> values =
      Stream(seed, "overwrite/values").normals(size_t(memories) * T * dv); // [memory, round, key, dv]
  normalise_rows(values, dv);
  for (int a = 0; a < angles; ++a) {
    const double cosine = std::cos(angle_at(a, angles, 90, p.real("closest")));
    const std::vector<double> keys = make_keys({"equicorrelated", n, d, cosine}, memories, seed);
    for (int m = 0; m < memories; ++m)
      for (int h = 0; h < n; ++h) {
        const size_t first = ((size_t(a) * memories + m) * n + h) * T;
        for (int round = 0; round < rounds; ++round) {
          const std::vector<int> order = Stream(seed, "overwrite/order", size_t(m) * rounds + round).permutation(n);
          for (int i = 0; i < n; ++i) {
            const size_t step = first + round * n + i;
            copy_row(keys, size_t(m) * n + order[i], s.k, step, d);
            copy_row(values, size_t(m) * T + round * n + order[i], s.v, step, dv);
            copy_row(keys, size_t(m) * n + h, s.q, step, d);
          }
        }
        const int last = (rounds - 1) * n + h;
        problem.answer[first + T - 1] = last;
        copy_row(values, size_t(m) * T + last, problem.target, first + T - 1, dv);
        problem.candidates.insert(problem.candidates.end(), values.begin() + size_t(m) * T * dv,
                                  values.begin() + size_t(m + 1) * T * dv);
      }
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const int angles = p.integer("angles"), n = p.integer("n");
  const Shape &shape = problem.sequence.shape;
  const double reads = shape.heads(), reads_an_angle = reads / angles;
  std::vector<double> mse(angles, 0.0), accuracy(angles, 0.0), stale(angles, 0.0);
  for (size_t head = 0; head < shape.heads(); ++head) {
    const Read read = score_read(problem, output, head, shape.T - 1);
    const size_t a = head / size_t(reads_an_angle);
    mse[a] += read.square_error / (reads_an_angle * shape.Dv);
    accuracy[a] += read.right / reads_an_angle;
    stale[a] += (!read.right && read.chosen >= 0 && read.chosen % n == int(head) % n) / reads_an_angle;
  }
  result.metrics.emplace_back("stale", mean_of_range(stale, 0, angles));
  result.series = {{"mse_by_angle", mse}, {"accuracy_by_angle", accuracy}, {"stale_by_angle", stale}};
  return result;
}

} // namespace

Task overwrite() {
  Task t;
  t.summary = "write keys again with new values, at smaller and smaller angles between keys: does a key return its "
              "latest value only?";
  t.source = "002 §4";
  t.params = with_gates(
      {integer_param("memories", 4, 1, 1e6, "independent memories per angle"),
       integer_param("angles", 8, 1, 1000, "angles between keys, from 90 degrees down"),
       real_param("closest", 10, 0, 90, "smallest angle, in degrees"),
       integer_param("n", 4, 1, 65536, "keys, at most $d$"), integer_param("rounds", 4, 1, 1e6, "writes per key"),
       integer_param("d", 16, 1, 65536, "key width"), integer_param("dv", 16, 1, 65536, "value width")});
  t.metrics = {accuracy, mse, cosine, {"stale", Metric::smaller}};
  t.ends = [](const Params &p) { return Ends{1 / (p.real("n") * p.real("rounds")), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
