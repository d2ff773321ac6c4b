// SPDX-License-Identifier: Apache-2.0
// A few fixed pairs under a long filler (004 §6.5): how long do the first n pairs stay readable?
//
// Example with n = 2, T = 5, filler = pairs:
//   t      1        2        3        4        5
//   k,v    k1,a     k2,b     x3,c     x4,d     x5,e      x: fresh random keys, c, d, e: random words
//   q      k1       k2       k2       k1       k1        read from step 3 on
//   o  ->                    b        a        a
//
// The filler: `pairs` writes further pairs; `repeats` writes the n pairs again in turn (redundant context); `silent`
// has v = 0 and beta = 0, padding that a trained gate could ignore. Decoding chooses among the whole vocabulary. Series
// "*_by_octave" are means over steps (n, 2n], (2n, 4n], ...; the metrics are the values of the last and of the first
// octave.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"
#include <cmath>

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  const int d = p.integer("d");
  return {p.integer("memories"), 1, p.integer("n") + p.integer("filler_steps"), d, d};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), n = p.integer("n"), T = shape_of(p).T, d = p.integer("d");
  const int vocabulary = std::max(n, p.integer("vocabulary"));
  const std::string &filler = p.text("filler");
  const std::vector<double> keys = make_keys({p.text("keys"), n, d, p.real("cosine")}, memories, seed);
  std::vector<double> words = Stream(seed, "long_mqar/words").normals(size_t(vocabulary) * d);
  normalise_rows(words, d);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  s.k = Stream(seed, "long_mqar/filler_keys").normals(size_t(memories) * T * d);
  normalise_rows(s.k, d);
  s.q.resize(s.k.size());
  s.v.assign(s.k.size(), 0.0), problem.target.assign(s.k.size(), 0.0);
  problem.answer.assign(size_t(memories) * T, -1);
  problem.scored.assign(T, 1);
  std::fill_n(problem.scored.begin(), n, 0);
  append(problem.candidates, words, memories);
  fill_gates(s, p);
  const Stream ask(seed, "long_mqar/ask"), word(seed, "long_mqar/filler_words");
  for (int m = 0; m < memories; ++m) {
    // key i holds word bound[i]
    const std::vector<int> bound = Stream(seed, "long_mqar/bound_words", m).permutation(vocabulary);
    for (int t = 0; t < T; ++t) {
      const size_t step = size_t(m) * T + t;
      const int asked = t < n ? t : int(ask.below(step, n));
      if (t < n || filler == "repeats") {
        copy_row(keys, size_t(m) * n + t % n, s.k, step, d);
        copy_row(words, bound[t % n], s.v, step, d);
      } else if (filler == "pairs") {
        copy_row(words, word.below(step, vocabulary), s.v, step, d);
      } else {
        s.beta[step] = 0;
      }
      copy_row(keys, size_t(m) * n + asked, s.q, step, d);
      copy_row(words, bound[asked], problem.target, step, d);
      problem.answer[step] = bound[asked];
    }
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  const Score reads = score_reads(problem, output);
  Score result;
  for (const char *name : {"mse", "cosine", "accuracy"}) {
    std::vector<double> by_step(p.integer("n"), 0.0); // octaves are counted from the first step of the text
    append(by_step, reads.series.at(std::string(name) + "_by_step"));
    const std::vector<double> octaves = octave_means(by_step, p.integer("n"));
    result.metrics.emplace_back(name, octaves.back());
    result.metrics.emplace_back(std::string("first_") + name, octaves.front());
    result.series[std::string(name) + "_by_octave"] = octaves;
  }
  return result;
}

} // namespace

Task long_mqar() {
  Task t;
  t.summary = "keep a few pairs readable through a long filler";
  t.source = "004 §6.5, Fig 6";
  t.params = with_gates({integer_param("memories", 8, 1, 1e6, "independent memories (batch)"),
                         integer_param("n", 8, 1, 1e6, "pairs"),
                         integer_param("filler_steps", 248, 1, 1e8, "steps after the pairs; $T = n$ + this"),
                         integer_param("d", 32, 1, 65536, "width of keys and values"),
                         integer_param("vocabulary", 64, 1, 1e6, "number of words that a value can be, at least $n$"),
                         choice_param("filler", {"pairs", "repeats", "silent"}, "what follows the pairs"),
                         keys_param("unit"), cosine_param(0.5)});
  t.metrics = {accuracy,
               mse,
               cosine,
               {"first_accuracy", Metric::larger},
               {"first_mse", Metric::smaller},
               {"first_cosine", Metric::larger}};
  t.ends = [](const Params &p) { return Ends{1 / std::fmax(p.real("n"), p.real("vocabulary")), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
