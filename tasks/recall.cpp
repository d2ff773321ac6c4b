// SPDX-License-Identifier: Apache-2.0
// Associative recall (000 §2.1): store n pairs, ask for one of them through a noisy copy of its key.
//
// Each batch element is an independent memory. Example with n = 3, asked for the second pair:
//   t      1        2        3
//   k,v    k1,v1    k2,v2    k3,v3
//   q      k1       k2       k2 + noise     <- the read after the last write is scored; it should be v2
//
// Every memory has a twin in the second half of the batch, with the same keys, but with all values zero except the one
// asked for. The twin's read is the signal c v of 000 Eq 5. The difference of the two reads is the noise r, exactly so
// for a layer that is linear in v. "snr_inverse" is the mean of |r|^2 / |c v|^2 (000 Eq 6) and needs no knowledge of
// the kernel. Memories whose signal is zero (the pair was lost entirely) are counted in "lost" and left out of
// "snr_inverse".
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  return {2 * p.integer("memories"), 1, p.integer("n"), p.integer("d"), p.integer("dv")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), n = p.integer("n"), d = p.integer("d"), dv = p.integer("dv");
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  s.k = make_keys({p.text("keys"), n, d, p.real("cosine")}, memories, seed);
  s.k.insert(s.k.end(), s.k.begin(), s.k.end());
  s.q = s.k;
  problem.candidates = Stream(seed, "recall/values").normals(size_t(memories) * n * dv);
  problem.candidates.insert(problem.candidates.end(), problem.candidates.begin(), problem.candidates.end());
  s.v = problem.candidates;
  fill_gates(s, p);
  problem.scored.assign(n, 0);
  problem.scored[n - 1] = 1;
  problem.answer.assign(size_t(2) * memories * n, -1);
  problem.target.assign(s.v.size(), 0.0);
  const Stream pick(seed, "recall/ask"), noise(seed, "recall/noise");
  for (int m = 0; m < memories; ++m) {
    const size_t asked = pick.below(m, n), first = size_t(m) * n, last = first + n - 1, twin = size_t(memories) * n;
    problem.answer[last] = int(asked);
    for (int c = 0; c < d; ++c)
      s.q[last * d + c] = s.q[(twin + last) * d + c] =
          s.k[(first + asked) * d + c] + p.real("noise") * noise.normal(size_t(m) * d + c);
    for (int c = 0; c < dv; ++c) problem.target[last * dv + c] = s.v[(first + asked) * dv + c];
    for (size_t i = 0; i < size_t(n); ++i)
      for (int c = 0; c < dv && i != asked; ++c) s.v[(twin + first + i) * dv + c] = 0;
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  result.series.clear(); // only one step is scored, so there is no curve
  const Shape &shape = problem.sequence.shape;
  const int memories = p.integer("memories");
  double ratios = 0, kept = 0;
  for (int m = 0; m < memories; ++m) {
    const double *read = &output.o[(size_t(m) + 1) * shape.T * shape.Dv - shape.Dv];
    const double *signal = read + size_t(memories) * shape.T * shape.Dv;
    double noise = 0, power = 0;
    for (int c = 0; c < shape.Dv; ++c) {
      noise += (read[c] - signal[c]) * (read[c] - signal[c]);
      power += signal[c] * signal[c];
    }
    if (power != 0) ratios += noise / power, ++kept;
  }
  if (kept > 0) result.metrics.emplace_back("snr_inverse", ratios / kept);
  result.metrics.emplace_back("lost", 1 - kept / memories);
  return result;
}

} // namespace

Task recall() {
  Task t;
  t.summary = "store $n$ key-value pairs, then read one through a noisy copy of its key";
  t.source = "000 §2.1, Eq 4-7";
  t.params = with_gates({integer_param("memories", 64, 1, 1e6,
                                       "independent memories (batch); each is run twice, to separate signal and noise"),
                         integer_param("n", 32, 1, 1e6, "stored pairs"), integer_param("d", 32, 1, 65536, "key width"),
                         integer_param("dv", 32, 1, 65536, "value width"), keys_param("unit"), cosine_param(0.5),
                         real_param("noise", 0, 0, no_limit, "standard deviation of the query noise, per channel")});
  t.metrics = {accuracy, mse, cosine, {"snr_inverse", Metric::smaller}, {"lost", Metric::smaller}};
  t.ends = [](const Params &p) { return Ends{1 / p.real("n"), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
