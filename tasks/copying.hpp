// SPDX-License-Identifier: Apache-2.0
// Copying L tokens, with or without noise steps among them. Shared by the tasks copy and selective_copy.
//
// Content token i is written under the key of position i. L blank steps follow, which write nothing (v = 0, beta = 0,
// keys of positions L+1 ... 2L) and ask for positions 1 ... L in turn. With order = reversed they ask for positions L
// ... 1, so that the text and its copy are a palindrome.
// Noise steps write random words under random unit keys.
#pragma once
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {

inline std::vector<ParamSpec> copying_params() {
  return {
      integer_param("memories", 8, 1, 1e6, "independent texts (batch)"),
      integer_param("length", 32, 1, 1e7, "tokens to copy"),
      integer_param("d", 64, 1, 65536, "width of keys and values"),
      choice_param("order", {"forward", "reversed"}, "order of the copy; reversed: text and copy form a palindrome"),
      integer_param("vocabulary", 16, 1, 1e6, "number of different words"),
      keys_param("orthonormal"),
      cosine_param(0.5)};
}

inline Ends guess_among_words(const Params &p) { return {1 / p.real("vocabulary"), 1}; }

inline Shape copying_shape(const Params &p, int noise) {
  return {p.integer("memories"), 1, 2 * p.integer("length") + noise, p.integer("d"), p.integer("d")};
}

/// `noise_beta`: the write strength at noise steps.
inline Problem copying(const Params &p, std::uint64_t seed, int noise, double noise_beta) {
  const int memories = p.integer("memories"), L = p.integer("length"), d = p.integer("d"),
            vocabulary = p.integer("vocabulary");
  const int text = L + noise, T = copying_shape(p, noise).T;
  const std::vector<double> keys = make_keys({p.text("keys"), 2 * L, d, p.real("cosine")}, memories, seed);
  std::vector<double> words = Stream(seed, "copying/words").normals(size_t(vocabulary) * d);
  normalise_rows(words, d);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = copying_shape(p, noise);
  s.k = Stream(seed, "copying/noise_keys").normals(size_t(memories) * T * d);
  normalise_rows(s.k, d);
  s.v.assign(s.k.size(), 0.0), problem.target = s.v;
  problem.answer.assign(size_t(memories) * T, -1);
  problem.scored.assign(T, 0);
  std::fill_n(problem.scored.begin() + text, L, 1);
  append(problem.candidates, words, memories);
  fill_gates(s, p);
  const Stream word(seed, "copying/text");
  const auto asked = [&](int i) { return p.text("order") == "forward" ? i : L - 1 - i; };
  for (int m = 0; m < memories; ++m) {
    const size_t first = size_t(m) * T;
    // the first L places, in order, hold the content
    std::vector<int> places = Stream(seed, "copying/places", m).permutation(text);
    std::sort(places.begin(), places.begin() + L);
    std::vector<int> position(text, -1);
    for (int i = 0; i < L; ++i) position[places[i]] = i;
    for (int t = 0; t < text; ++t) {
      copy_row(words, word.below(first + t, vocabulary), s.v, first + t, d);
      if (position[t] >= 0)
        copy_row(keys, size_t(m) * 2 * L + position[t], s.k, first + t, d);
      else
        s.beta[first + t] = noise_beta;
    }
    for (int i = 0; i < L; ++i) {
      const size_t step = first + text + i;
      copy_row(keys, size_t(m) * 2 * L + L + i, s.k, step, d);
      s.beta[step] = 0;
      problem.answer[step] = int(word.below(first + places[asked(i)], vocabulary));
      copy_row(words, problem.answer[step], problem.target, step, d);
    }
  }
  s.q = s.k;
  for (int m = 0; m < memories; ++m)
    for (int i = 0; i < L; ++i) copy_row(keys, size_t(m) * 2 * L + asked(i), s.q, size_t(m) * T + text + i, d);
  return problem;
}

/// The metrics of score_reads, and "exact", the fraction of texts that are copied without a mistake. The series have
/// one value per position.
inline Score score_copy(const Params &, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  double exact = 0;
  for (int m = 0; m < shape.B; ++m) {
    bool right = true;
    for (int t = 0; t < shape.T; ++t) right = right && (!problem.scored[t] || score_read(problem, output, m, t).right);
    exact += right;
  }
  result.metrics.emplace_back("exact", exact / shape.B);
  return result;
}

} // namespace recollect::tasks
