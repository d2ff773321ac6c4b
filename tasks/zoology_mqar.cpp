// SPDX-License-Identifier: Apache-2.0
// Multi-query associative recall as zoology generates it, without training: first the pairs, then every key once more,
// at places that follow a power law. A short convolution forms the key of a step from the tokens before it.
//
// Example of 2 pairs in 8 tokens (f: filler, a random token), with a step for each token but the first:
//   token  1    2    3    4    5    6    7    8
//          k1   v1   k2   v2   k2   f    k1   f
//   k           k1   v1   k2   v2   k2   f    k1
//   v,q         v1   k2   v2   k2   f    k1   f
//   o  ->                      v2        v1          <- scored at the step of the query
//
// harness/numerics/recall_texts.hpp describes the texts and the power law; updates > 0 gives forgetting MQAR, and
// key_tokens = 2 compositional MQAR. With keys of two tokens, k and q are sums of two tokens, in which the odd channels
// of the earlier token are negated. The keys form a grid of g x g, one token per axis. Keys in one row or column of the
// grid have inner product 1/2, and all keys together have rank 2 g - 1. Decoding chooses among the whole vocabulary.
#include "harness/numerics/keys.hpp"
#include "harness/numerics/recall_texts.hpp"
#include "tasks/token_texts.hpp"
#include <cmath>

namespace recollect::tasks {
namespace {

RecallTextShape text_of(const Params &p) {
  return {p.integer("pairs"),      p.integer("T"),       p.integer("vocabulary"),
          p.integer("key_tokens"), p.integer("updates"), p.real("power")};
}

Shape shape_of(const Params &p) {
  return {p.integer("memories"), 1, p.integer("T") - p.integer("key_tokens"), p.integer("d"), p.integer("d")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const RecallTextShape shape = text_of(p);
  check_recall_text(shape, "zoology_mqar");
  const int memories = p.integer("memories"), K = shape.key_tokens, T = shape_of(p).T;
  const size_t d = p.integer("d");
  const std::vector<double> embeddings =
      make_keys({p.text("embedding"), p.integer("vocabulary"), p.integer("d")}, 1, seed);
  Problem problem = text_problem(shape_of(p), embeddings, p);
  Sequence &s = problem.sequence;
  for (int m = 0; m < memories; ++m) {
    const RecallText text =
        recall_text(shape, [&](const char *name) { return Stream(seed, std::string("zoology_mqar/") + name, m); });
    for (int t = 0; t < T; ++t) { // the step of token t + K
      const size_t step = size_t(m) * T + t;
      for (int j = 0; j < K; ++j)
        for (size_t c = 0; c < d; ++c) {
          const double weight = (j + 1 < K && c % 2 ? -1 : 1) / std::sqrt(K); // weight of the convolution
          s.k[step * d + c] += weight * embeddings[text.tokens[t + j] * d + c];
          s.q[step * d + c] += weight * embeddings[text.tokens[t + 1 + j] * d + c];
        }
      copy_row(embeddings, text.tokens[t + K], s.v, step, d);
      problem.answer[step] = text.answers[t + K];
      if (problem.answer[step] >= 0) copy_row(embeddings, problem.answer[step], problem.target, step, d);
    }
  }
  return problem;
}

} // namespace

Task zoology_mqar() {
  Task t;
  t.summary = "zoology's multi-query recall: vocabulary 8192, queries by a power law; with the forgetting and "
              "compositional variants";
  t.source = "Arora et al. 2023 (Zoology), arXiv 2312.04927; data of HazyResearch/zoology";
  t.params = with_gates(
      {integer_param("memories", 4, 1, 1e6, "independent texts (batch)"),
       integer_param("pairs", 4, 1, 1e6, "key-value pairs"), integer_param("T", 64, 4, 1e7, "tokens of a text"),
       integer_param("d", 64, 1, 65536, "width of the embeddings"),
       integer_param("vocabulary", 8192, 4, 1e7, "number of tokens: keys in the lower part, values in the upper part"),
       real_param("power", 0.01, 0, 1, "1 plus the exponent of the power law of gaps; 1: uniform"),
       integer_param("updates", 0, 0, 1e6, "keys written again with another value"),
       integer_param("key_tokens", 1, 1, 2, "number of tokens in a key; 2: the pairs form a grid"),
       choice_param("embedding", {"unit", "orthonormal"}, "token embeddings")});
  t.metrics = {accuracy, mse, cosine};
  t.ends = [](const Params &p) { return Ends{1 / p.real("vocabulary"), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score_without_curves;
  return t;
}

} // namespace recollect::tasks
