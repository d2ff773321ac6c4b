// SPDX-License-Identifier: Apache-2.0
// N-gram look-up: which token follows a given n-gram of the text? This is one step of copying a text.
//
// Example with bigrams (n = 2) of the text "a b c a a", asked for what follows "b c":
//   t      1       2       3       4
//   k,v    [ab],c  [bc],a  [ca],a  x,0       x: a random key, beta = 0
//   q      [ab]    [bc]    [ca]    [bc]
//   o  ->                          a
//
// An n-gram's key is the sum of its tokens' codes over sqrt(n d). Codes are signs (+1 or -1) per channel, and a token
// has a different code at each of the n places. Keys of n-grams that share a token at a place have inner product 1/n.
// Keys of n-grams that share none have inner products of about 1/sqrt(d). The n-gram asked for occurs once, before the
// last token.
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include "tasks/token_texts.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) {
  return {p.integer("memories"), 1, p.integer("length") - p.integer("n") + 1, p.integer("d"), p.integer("d")};
}

/// Start positions of the n-grams that occur once and are followed by a token.
std::vector<int> unique_places(const std::vector<int> &text, int n) {
  std::vector<int> places;
  const int last = int(text.size()) - n;
  for (int i = 0; i < last; ++i) {
    int count = 0;
    for (int j = 0; j <= last; ++j) count += std::equal(&text[i], &text[i] + n, &text[j]);
    if (count == 1) places.push_back(i);
  }
  return places;
}

/// A random text in which some n-gram occurs once. If no n-gram occurs once, the text is drawn again.
std::vector<int> make_text(const Params &p, std::uint64_t seed, int m) {
  const int length = p.integer("length"), tries = 100;
  for (int i = 0; i < tries; ++i) {
    const Stream token(seed, "ngram_lookup/text", std::uint64_t(m) * tries + i);
    std::vector<int> text;
    for (int t = 0; t < length; ++t) text.push_back(int(token.below(t, p.integer("vocabulary"))));
    if (!unique_places(text, p.integer("n")).empty()) return text;
  }
  usage_error("ngram_lookup: no n-gram occurs once; take a larger vocabulary or n, or shorter texts");
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), n = p.integer("n"), d = p.integer("d"), V = p.integer("vocabulary");
  if (p.integer("length") <= n) usage_error("ngram_lookup: a text must be longer than n");
  std::vector<double> words = Stream(seed, "ngram_lookup/words").normals(size_t(V) * d);
  normalise_rows(words, d);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  const int T = s.shape.T;
  s.k = Stream(seed, "ngram_lookup/last_keys").normals(size_t(memories) * T * d);
  normalise_rows(s.k, d);
  s.q = s.k;
  s.v.assign(s.k.size(), 0.0), problem.target = s.v;
  problem.answer.assign(size_t(memories) * T, -1);
  problem.scored.assign(T, 0);
  problem.scored[T - 1] = 1;
  append(problem.candidates, words, memories);
  fill_gates(s, p);
  const Stream code(seed, "ngram_lookup/codes"), ask(seed, "ngram_lookup/ask");
  const auto put_key = [&](const int *ngram, std::vector<double> &to, size_t step) {
    for (int c = 0; c < d; ++c) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += code.below((size_t(i) * V + ngram[i]) * d + c, 2) ? 1 : -1;
      to[step * d + c] = sum / std::sqrt(double(n) * d);
    }
  };
  for (int m = 0; m < memories; ++m) {
    const std::vector<int> text = make_text(p, seed, m), places = unique_places(text, n);
    for (int t = 0; t + 1 < T; ++t) {
      const size_t step = size_t(m) * T + t;
      put_key(&text[t], s.k, step), put_key(&text[t], s.q, step);
      copy_row(words, text[t + n], s.v, step, d);
    }
    const size_t last = size_t(m + 1) * T - 1;
    const int asked = places[ask.below(m, places.size())];
    s.beta[last] = 0;
    put_key(&text[asked], s.q, last);
    problem.answer[last] = text[asked + n];
    copy_row(words, text[asked + n], problem.target, last, d);
  }
  return problem;
}

} // namespace

Task ngram_lookup() {
  Task t;
  t.summary = "give the token that follows an n-gram of the text";
  t.source = "Jelassi et al. 2024 (Repeat After Me), arXiv 2402.01032";
  t.params = with_gates({integer_param("memories", 32, 1, 1e6, "independent texts (batch)"),
                         integer_param("n", 2, 1, 64, "tokens of an n-gram"),
                         integer_param("length", 32, 2, 1e7, "tokens of a text; $T$ = length $- n + 1$"),
                         integer_param("d", 64, 1, 65536, "width of keys and values"),
                         integer_param("vocabulary", 16, 2, 1e6, "number of different tokens")});
  t.metrics = {accuracy, mse, cosine};
  t.ends = [](const Params &p) { return Ends{1 / p.real("vocabulary"), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score_without_curves;
  return t;
}

} // namespace recollect::tasks
