// SPDX-License-Identifier: Apache-2.0
// MAD's noisy in-context recall (arXiv 2403.17844) without training: pairs of a key and its value lie among pairs of
// noise tokens. A key that occurred before asks for its value.
//
// Example of 4 pairs, the second of them noise (x, y), with a step for each token but the first and the last:
//   token  1    2    3    4    5    6    7    8
//          k1   a    x    y    k2   b    k1   a
//   k           k1   a    x    y    k2   b
//   v,q         a    x    y    k2   b    k1
//   o  ->                                a          <- scored at the step of the query
//
// harness/numerics/recall_texts.hpp describes the texts. A convolution of length 2 makes the previous token the key of
// a step, so keys and noise are also written as values, each under the token before it. Decoding chooses among the
// whole vocabulary: keys, then values, then noise.
#include "harness/numerics/keys.hpp"
#include "harness/numerics/recall_texts.hpp"
#include "tasks/token_texts.hpp"
#include <algorithm>

namespace recollect::tasks {
namespace {

NoisyRecallShape text_shape(const Params &p) {
  const NoisyRecallShape shape{p.integer("pairs"), p.integer("vocabulary"), p.integer("noise_vocabulary"),
                               p.real("noise")};
  check_noisy_recall_text(shape, "noisy_recall");
  return shape;
}

Shape shape_of(const Params &p) {
  return {p.integer("memories"), 1, 2 * p.integer("pairs") - 2, p.integer("d"), p.integer("d")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), d = p.integer("d"), T = shape_of(p).T;
  const NoisyRecallShape text_of = text_shape(p);
  const std::vector<double> embeddings = make_keys({p.text("embedding"), p.integer("vocabulary"), d}, 1, seed);
  Problem problem = text_problem(shape_of(p), embeddings, p);
  Sequence &s = problem.sequence;
  for (int m = 0; m < memories; ++m) {
    const RecallText text = noisy_recall_text(
        text_of, [&](const char *name) { return Stream(seed, std::string("noisy_recall/") + name, m); });
    for (int t = 0; t < T; ++t) { // the step of token t + 1
      const size_t step = size_t(m) * T + t;
      copy_row(embeddings, text.tokens[t], s.k, step, d);
      copy_row(embeddings, text.tokens[t + 1], s.q, step, d);
      copy_row(embeddings, text.tokens[t + 1], s.v, step, d);
      if (std::max(text.tokens[t], text.tokens[t + 1]) >= text_of.words()) s.beta[step] *= p.real("noise_write");
      problem.answer[step] = text.answers[t + 1];
      if (problem.answer[step] >= 0) copy_row(embeddings, problem.answer[step], problem.target, step, d);
    }
  }
  return problem;
}

} // namespace

Task noisy_recall() {
  Task t;
  t.summary = "MAD's noisy recall: a key that occurred before asks for its value, among pairs of noise tokens";
  t.source = "MAD, arXiv 2403.17844 (trained); data of athms/mad-lab";
  t.params = with_gates(
      {integer_param("memories", 4, 1, 1e6, "independent texts (batch)"),
       integer_param("pairs", 64, 3, 1e7, "pairs of tokens: half of MAD's seq_len"),
       integer_param("vocabulary", 32, 2, 1e7, "number of tokens: keys, the same number of values, and noise tokens"),
       integer_param("noise_vocabulary", 16, 0, 1e7, "noise tokens of the vocabulary"),
       real_param("noise", 0.2, 0, 1, "probability that a pair is noise: MAD's frac_noise"),
       real_param("noise_write", 1, 0, 1, "factor on beta where a token is noise"),
       integer_param("d", 32, 1, 65536, "width of the embeddings"),
       choice_param("embedding", {"unit", "orthonormal"}, "token embeddings")});
  t.metrics = {accuracy, mse, cosine};
  t.ends = [](const Params &p) { return Ends{1.0 / text_shape(p).values(), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score_without_curves;
  return t;
}

} // namespace recollect::tasks
