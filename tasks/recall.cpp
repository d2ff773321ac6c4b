// SPDX-License-Identifier: Apache-2.0
// Associative recall (000 §2.1): store n pairs, ask for one of them through a noisy copy of its key.
//
// Each batch element is an independent memory. One row with n = 3, asked for the second pair:
//   t      1        2        3
//   k,v    k1,v1    k2,v2    k3,v3
//   q      k1       k2       k2 + noise     <- the read after the last write is scored; it should be v2
//
// "snr_inverse" is the mean over memories of |o/c - v|^2 / |v|^2 with c the least-squares amplitude <o,v>/|v|^2: noise
// power over signal power as in 000 Eq 5-7, without knowing the kernel.
#include "keys.hpp"
#include "random.hpp"
#include "scoring.hpp"
#include "statistics.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::tasks {
namespace {

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), n = p.integer("n"), d = p.integer("d"), dv = p.integer("dv");
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = {memories, 1, n, d, dv};
  s.k = make_keys({p.text("keys"), n, d, p.real("cosine")}, memories, seed);
  s.v = Stream(seed, 13).normals(size_t(memories) * n * dv);
  s.q = s.k;
  s.beta.assign(size_t(memories) * n, p.real("beta"));
  s.alpha.assign(size_t(memories) * n, p.real("alpha"));
  problem.scored.assign(n, 0);
  problem.scored[n - 1] = 1;
  problem.candidates = s.v;
  problem.answer.assign(size_t(memories) * n, 0);
  problem.target.assign(s.v.size(), 0.0);
  const Stream pick(seed, 14), noise(seed, 15);
  for (int m = 0; m < memories; ++m) {
    const size_t asked = pick.below(m, n), last = size_t(m) * n + n - 1, right = size_t(m) * n + asked;
    problem.answer[last] = int(asked);
    for (int c = 0; c < d; ++c)
      s.q[last * d + c] = s.k[right * d + c] + p.real("noise") * noise.normal(size_t(m) * d + c);
    for (int c = 0; c < dv; ++c) problem.target[last * dv + c] = s.v[right * dv + c];
  }
  return problem;
}

Score score(const Params &, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  std::vector<double> ratios;
  for (int m = 0; m < shape.B; ++m) {
    const double *o = &output.o[(size_t(m) + 1) * shape.T * shape.Dv - shape.Dv],
                 *v = &problem.target[(size_t(m) + 1) * shape.T * shape.Dv - shape.Dv];
    double oo = 0, ov = 0, vv = 0;
    for (int c = 0; c < shape.Dv; ++c) oo += o[c] * o[c], ov += o[c] * v[c], vv += v[c] * v[c];
    ratios.push_back(oo * vv / (ov * ov) - 1);
  }
  result.metrics.emplace_back("snr_inverse", mean_of(ratios).mean);
  result.series.clear(); // one scored step: no curve
  return result;
}

} // namespace

Task recall() {
  Task t;
  t.summary = "store n key-value pairs, then read one through a noisy copy of its key";
  t.source = "000 §2.1, Eq 4-7";
  t.params = {integer_param("memories", 64, 1, 1e6, "independent memories (batch)"),
              integer_param("n", 32, 1, 1e6, "stored pairs"),
              integer_param("d", 32, 1, 65536, "key width"),
              integer_param("dv", 32, 1, 65536, "value width"),
              keys_param("unit"),
              real_param("cosine", 0.5, -1, 1, "inner product of correlated or equicorrelated keys"),
              real_param("noise", 0, 0, no_limit, "standard deviation of the query noise, per channel"),
              real_param("beta", 1, 0, 2, "write strength at every step"),
              real_param("alpha", 1, 0, 1, "decay at every step")};
  t.metrics = {"mse", "cosine", "accuracy", "snr_inverse"};
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
