// SPDX-License-Identifier: Apache-2.0
// A needle in a haystack without training (the S-NIAH suite that 002 §6 quotes). The needle is one entry of several
// tokens; it is written somewhere in a long text and read token by token at the text's end.
//
//   kind      needle                      haystack
//   passkey   7 digits                    one sentence of `period` words, repeated          (RULER's S-NIAH-1)
//   number    7 digits                    words that never repeat                           (S-NIAH-2)
//   uuid      32 hexadecimal digits       words that never repeat                           (S-NIAH-3)
//
// With needles > 1 the text has other needles that are not asked for (MK-NIAH-1: 4 numbers). With needles = 0 the text
// is full of such other needles (MK-NIAH-2: numbers, MK-NIAH-3: uuids). Needles share all words but their names, so the
// keys of another needle are similar to the keys of the needle asked for: token by token, their inner product is
// `alike`.
//
// Example with a needle of 2 tokens in a text of 7 steps (w: haystack words under their own keys x):
//   t      1      2      3      4      5      6      7
//   k,v    x1,w1  x2,w2  n1,8   n2,3   x5,w5  x6,w6  x7,w7
//   q      x1     x2     n1     n2     x5     n1     n2
//   o  ->                                     8      3
//
// Memory m of the batch has its needle at depth (m + 1/2) / memories; the series have one value per memory. "accuracy"
// is the fraction of right tokens, "exact" the fraction of needles that are right in all tokens. Decoding chooses among
// the digits. The steps that ask for the needle also write the text's last words.
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

struct Needle {
  int tokens, digits;
};
Needle needle_of(const Params &p) { return p.text("kind") == "uuid" ? Needle{32, 16} : Needle{7, 10}; }

Shape shape_of(const Params &p) { return {p.integer("memories"), 1, p.integer("T"), p.integer("d"), p.integer("d")}; }

/// Overwrites parts of memory m's haystack with the needles that are not asked for. The slot that starts at `asked` is
/// left out.
void hide_other_needles(Problem &problem, const Params &p, std::uint64_t seed, int m, int asked) {
  const Needle needle = needle_of(p);
  const int T = p.integer("T"), d = p.integer("d"), L = needle.tokens;
  const double alike = p.real("alike");
  std::vector<int> slots;
  for (int start = asked % L; start <= T - 2 * L; start += L)
    if (start != asked) slots.push_back(start);
  const std::vector<int> order = Stream(seed, "needle/slots", m).permutation(int(slots.size()));
  const int others = p.integer("needles") == 0 ? int(slots.size()) : p.integer("needles") - 1;
  const Stream draw(seed, "needle/other_digits", m), own(seed, "needle/other_names", m);
  Sequence &s = problem.sequence;
  for (int other = 0; other < others; ++other)
    for (int i = 0; i < L; ++i) {
      const size_t number = size_t(other) * L + i, first = size_t(m) * T, step = first + slots[order[other]] + i;
      std::vector<double> name = own.normals(d, number * d);
      normalise_rows(name, d);
      for (int c = 0; c < d; ++c)
        s.k[step * d + c] = alike * s.k[(first + asked + i) * d + c] + std::sqrt(1 - alike * alike) * name[c];
      // the candidates are the digits
      copy_row(problem.candidates, draw.below(number, needle.digits), s.v, step, d);
    }
}

Problem generate(const Params &p, std::uint64_t seed) {
  const Needle needle = needle_of(p);
  const int memories = p.integer("memories"), T = p.integer("T"), d = p.integer("d"), period = p.integer("period"),
            L = needle.tokens;
  const int needed = p.integer("needles") > 1 ? (p.integer("needles") + 2) * L : 2 * L;
  if (T < needed)
    usage_error("needle: a " + p.text("kind") + " of " + std::to_string(L) + " tokens" +
                (p.integer("needles") > 1 ? " among others" : "") + " needs T >= " + std::to_string(needed));
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  const auto unit_rows = [&](const char *name, size_t rows) {
    std::vector<double> x = Stream(seed, name).normals(rows * d);
    normalise_rows(x, d);
    return x;
  };
  s.k = unit_rows("needle/keys", size_t(memories) * T), s.v = unit_rows("needle/values", size_t(memories) * T);
  const std::vector<double> digits = make_keys({"orthonormal", needle.digits, d}, 1, seed);
  const std::vector<double> names = unit_rows("needle/names", size_t(memories) * L); // the needle's keys
  problem.target.assign(s.v.size(), 0.0);
  problem.answer.assign(size_t(memories) * T, -1);
  problem.scored.assign(T, 0);
  std::fill(problem.scored.end() - L, problem.scored.end(), 1);
  append(problem.candidates, digits, memories);
  fill_gates(s, p);
  const Stream draw(seed, "needle/digits");
  for (int m = 0; m < memories; ++m) {
    const size_t first = size_t(m) * T;
    if (p.text("kind") == "passkey")
      for (int t = period; t < T; ++t) {
        copy_row(s.k, first + t % period, s.k, first + t, d);
        copy_row(s.v, first + t % period, s.v, first + t, d);
      }
    const int start = int((m + 0.5) / memories * (T - 2 * L));
    for (int i = 0; i < L; ++i) {
      copy_row(names, size_t(m) * L + i, s.k, first + start + i, d);
      copy_row(digits, draw.below(size_t(m) * L + i, needle.digits), s.v, first + start + i, d);
    }
    hide_other_needles(problem, p, seed, m, start);
  }
  s.q = s.k;
  for (int m = 0; m < memories; ++m)
    for (int i = 0; i < L; ++i) {
      const size_t step = size_t(m + 1) * T - L + i;
      copy_row(names, size_t(m) * L + i, s.q, step, d);
      problem.answer[step] = int(draw.below(size_t(m) * L + i, needle.digits));
      copy_row(digits, problem.answer[step], problem.target, step, d);
    }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  const int L = needle_of(p).tokens;
  std::vector<double> accuracy(shape.B, 0.0), exact(shape.B, 0.0);
  for (int m = 0; m < shape.B; ++m) {
    for (int t = shape.T - L; t < shape.T; ++t) accuracy[m] += double(score_read(problem, output, m, t).right) / L;
    exact[m] = accuracy[m] > 1 - 0.5 / L;
  }
  result.metrics.emplace_back("exact", mean_of_range(exact, 0, shape.B));
  result.series = {{"accuracy_by_depth", accuracy}, {"exact_by_depth", exact}};
  return result;
}

} // namespace

Task needle() {
  Task t;
  t.summary = "find one entry of several tokens in a long text of repeated or distinct words";
  t.source = "RULER, arXiv 2404.06654 (S-NIAH-1 to -3, MK-NIAH-1 to -3); 002 §6";
  t.params = with_gates(
      {integer_param("memories", 4, 1, 1e6, "number of texts (batch); the needle lies deeper in each"),
       integer_param("T", 384, 1, 1e8, "steps of a text"),
       integer_param("d", 32, 16, 65536, "width of keys and values"),
       choice_param("kind", {"number", "passkey", "uuid"}, "needle and haystack"),
       integer_param("period", 16, 1, 1e8, "words of the sentence that the passkey's haystack repeats"),
       integer_param("needles", 1, 0, 1e6, "needles in a text, one of which is asked for; 0: as many as fit"),
       real_param("alike", 0.5, 0, 1,
                  "approximate inner product of another needle's keys with those of the needle asked for")});
  t.metrics = {accuracy, mse, cosine, {"exact", Metric::larger}};
  t.ends = [](const Params &p) { return Ends{1.0 / needle_of(p).digits, 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
