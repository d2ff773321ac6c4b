// SPDX-License-Identifier: Apache-2.0
// Multi-query associative recall without training (003 §6, Eq 57-58): P cue-response pairs in random order, possibly
// repeated. A short convolution of length 2 makes the previous token the key, and the current one the value and the
// query.
//
// Example with tokens u1 r1 u2 r2 u1 (storage = bigrams, T = 4):
//   t      1    2    3    4
//   k      u1   r1   u2   r2
//   v,q    r1   u2   r2   u1     <- a cue that was seen before: the read should be r1, or r1 times its number of writes
// With storage = cues only the steps that write a response are kept, and each of them asks for a cue seen so far (its
// own included):
//   k,v    u1,r1   u2,r2   u1,r1          q  u1   u1   u2
//
// Decoding chooses among all tokens. Embeddings are orthonormal as far as the width allows: with 2P > d > P the tokens
// after the first d have a separate orthonormal basis (003 needs 2P <= d for exactness with bigrams).
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

struct Tokens {
  int P, count; // cues are tokens 0 ... P-1; token `response(j)` answers cue j
  bool shifted; // the response of each cue is the next cue
  int response(int cue) const { return shifted ? (cue + 1) % P : P + cue; }
};

Shape shape_of(const Params &p) { return {p.integer("memories"), 1, p.integer("T"), p.integer("d"), p.integer("d")}; }

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), P = p.integer("P"), T = p.integer("T"), d = p.integer("d");
  const bool cues_only = p.text("storage") == "cues", shifted = p.text("responses") == "shifted";
  const Tokens tokens{P, shifted ? P : 2 * P, shifted};
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  problem.candidates = make_keys({p.text("embedding"), tokens.count, d}, memories, seed);
  s.q = s.k = s.v = problem.target = std::vector<double>(size_t(memories) * T * d, 0.0);
  problem.answer.assign(size_t(memories) * T, -1);
  problem.scored.assign(T, 1);
  fill_gates(s, p);
  const Stream draw(seed, "mqar/text"), ask(seed, "mqar/ask");
  for (int m = 0; m < memories; ++m) {
    const auto put = [&](int token, std::vector<double> &to, size_t step) {
      copy_row(problem.candidates, size_t(m) * tokens.count + token, to, step, d);
    };
    const auto cue = [&](int pair) { return int(draw.below(size_t(m) * (T + 2) + pair, P)); };
    std::vector<int> seen(P, 0);
    for (int t = 0; t < T; ++t) { // step t writes (token t, token t + 1) of the text
      const size_t step = size_t(m) * T + t;
      const int pair = cues_only ? t : t / 2;
      const bool writes_response = cues_only || t % 2 == 0;
      int asked = -1;
      if (writes_response) {
        seen[cue(pair)] = 1;
        put(cue(pair), s.k, step);
        put(tokens.response(cue(pair)), s.v, step);
      } else {
        put(tokens.response(cue(pair)), s.k, step);
        put(cue(pair + 1), s.v, step);
        if (seen[cue(pair + 1)]) asked = cue(pair + 1);
      }
      if (cues_only) asked = cue(int(ask.below(step, t + 1)));
      cues_only ? put(asked, s.q, step) : copy_row(s.v, step, s.q, step, d);
      if (asked < 0) continue;
      problem.answer[step] = tokens.response(asked);
      put(tokens.response(asked), problem.target, step);
    }
  }
  return problem;
}

Score score(const Params &, const Problem &problem, const Output &output) { return score_reads(problem, output); }

} // namespace

Task mqar() {
  Task t;
  t.summary = "pairs of cue and response tokens after one convolution of length 2: answer every cue seen before";
  t.source = "003 §6, Eq 57-58, Fig 3";
  t.params =
      with_gates({integer_param("memories", 8, 1, 1e6, "independent texts (batch)"),
                  integer_param("P", 16, 1, 1e6, "cue-response pairs"),
                  integer_param("T", 128, 2, 1e7, "steps; a text has $T + 1$ tokens"),
                  integer_param("d", 64, 1, 65536, "width of the embeddings"),
                  choice_param("embedding", {"orthonormal", "unit"}, "token embeddings"),
                  choice_param("responses", {"own", "shifted"},
                               "own: responses are separate tokens; shifted: the response of a cue is the next cue"),
                  choice_param("storage", {"bigrams", "cues"},
                               "which steps write: every bigram, or only those from a cue to its response")});
  t.metrics = {accuracy, mse, cosine};
  t.ends = [](const Params &p) { return Ends{1 / (p.real("P") * (p.text("responses") == "own" ? 2 : 1)), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
