// SPDX-License-Identifier: Apache-2.0
// Multi-query associative recall as zoology generates it, without training: first the pairs, then every key once more,
// at places that follow a power law. A short convolution makes the tokens before a step the step's key.
//
// One row of 2 pairs in 8 tokens (f: filler, a random token), with a step for each token but the first:
//   token  1    2    3    4    5    6    7    8
//          k1   v1   k2   v2   k2   f    k1   f
//   k           k1   v1   k2   v2   k2   f    k1
//   v,q         v1   k2   v2   k2   f    k1   f
//   o  ->                      v2        v1          <- asked for at the query itself
//
// Queries are placed one after another, each at a free place g = 0, 1, ... of the text's second part with probability
// proportional to (g + 1)^(power - 1). updates > 0 (forgetting MQAR): after the pairs, that many randomly chosen keys
// are written again with another value; the answer is the latest value. key_tokens = 2 (compositional MQAR): a key is
// two tokens, and the pairs form a grid, in which neither token determines the value. k and q are then sums of two
// tokens, with the odd channels of the earlier one negated, so that pairs of one row or column overlap by one half, and
// the g^2 keys have rank 2 g - 1. Decoding chooses among the whole vocabulary.
#include "harness/core/error.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "tasks/token_texts.hpp"
#include <numeric>

namespace recollect::tasks {
namespace {

struct Layout {
  int key_tokens, pairs, updates, T;
  explicit Layout(const Params &p)
      : key_tokens(p.integer("key_tokens")), pairs(p.integer("pairs")), updates(p.integer("updates")),
        T(p.integer("T")) {}
  int context() const { return (pairs + updates) * (key_tokens + 1); }
  int places() const { return (T - context()) / (key_tokens + 1); }
  int side() const { return int(std::lround(std::sqrt(pairs))); } // of the grid
};

void check(const Layout &l, int vocabulary) {
  const int parts = l.key_tokens + 1; // parts of the vocabulary: first tokens of keys, second tokens of keys, values
  if (l.updates > l.pairs) usage_error("zoology_mqar: at most as many updates as pairs");
  if (l.key_tokens == 2 && l.side() * l.side() != l.pairs)
    usage_error("zoology_mqar: with key_tokens=2 the pairs are a grid; take a square number of pairs");
  if (l.T < l.context() + parts * l.pairs)
    usage_error("zoology_mqar: the pairs, updates and queries need T >= " +
                std::to_string(l.context() + parts * l.pairs));
  if (vocabulary / parts <= l.pairs)
    usage_error("zoology_mqar: these pairs need a vocabulary of at least " + std::to_string(parts * (l.pairs + 1)));
}

/// The tokens of a text, and for each the token to answer with; -1 if none is asked for.
struct Text {
  std::vector<int> tokens, answers;
};

/// Draws `count` different numbers from `first` ... `last` - 1, in random order.
std::vector<int> draw_distinct(int count, int first, int last, const Stream &draw) {
  std::vector<int> all = draw.permutation(last - first);
  all.resize(count);
  for (int &x : all) x += first;
  return all;
}

/// Places of the queries. They are drawn one after another, each by the power law over the places that are left.
std::vector<int> draw_places(const Layout &l, double power, const Stream &draw) {
  // times at which exponential clocks with these rates ring: their order is that of the draws
  std::vector<double> arrival;
  for (int g = 0; g < l.places(); ++g) arrival.push_back(-std::log(draw.uniform(g)) / std::pow(g + 1, power - 1));
  std::vector<int> places(l.places());
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(), [&](int a, int b) { return arrival[a] < arrival[b]; });
  places.resize(l.pairs);
  return places;
}

Text make_text(const Layout &l, const Params &p, std::uint64_t seed, int m) {
  const int V = p.integer("vocabulary"), K = l.key_tokens, part = V / (K + 1), g = l.side();
  const auto stream = [&](const char *name) { return Stream(seed, std::string("zoology_mqar/") + name, m); };
  const std::vector<int> order = stream("order").permutation(l.pairs), updated = stream("updated").permutation(l.pairs);
  const std::vector<int> values = draw_distinct(l.pairs, K * part, V, stream("values"));
  const std::vector<int> firsts = draw_distinct(K == 1 ? l.pairs : g, 1, part, stream("first_tokens"));
  const std::vector<int> seconds = draw_distinct(K == 1 ? 0 : g, part, 2 * part, stream("second_tokens"));
  const Stream filler = stream("filler"), another = stream("updates");
  Text text;
  for (int t = 0; t < l.T; ++t) text.tokens.push_back(int(filler.below(t, V)));
  text.answers.assign(l.T, -1);
  const auto put_key = [&](int pair, int at) {
    text.tokens[at] = firsts[K == 1 ? pair : order[pair] / g];
    if (K == 2) text.tokens[at + 1] = seconds[order[pair] % g];
  };
  std::vector<int> last = values;
  for (int i = 0; i < l.pairs + l.updates; ++i) {
    const int pair = i < l.pairs ? i : updated[i - l.pairs];
    if (i >= l.pairs) { // any other value
      const int shift = 1 + int(another.below(i, V - K * part - 1));
      last[pair] = K * part + (values[pair] - K * part + shift) % (V - K * part);
    }
    put_key(pair, i * (K + 1));
    text.tokens[i * (K + 1) + K] = i < l.pairs ? values[pair] : last[pair];
  }
  const std::vector<int> places = draw_places(l, p.real("power"), stream("places"));
  for (int pair = 0; pair < l.pairs; ++pair) {
    const int at = l.context() + places[pair] * (K + 1);
    put_key(pair, at);
    text.answers[at + K - 1] = last[pair];
  }
  return text;
}

Shape shape_of(const Params &p) {
  return {p.integer("memories"), 1, p.integer("T") - p.integer("key_tokens"), p.integer("d"), p.integer("d")};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const Layout layout(p);
  check(layout, p.integer("vocabulary"));
  const int memories = p.integer("memories"), K = layout.key_tokens, T = shape_of(p).T;
  const size_t d = p.integer("d");
  const std::vector<double> embeddings =
      make_keys({p.text("embedding"), p.integer("vocabulary"), p.integer("d")}, 1, seed);
  Problem problem = text_problem(shape_of(p), embeddings, p);
  Sequence &s = problem.sequence;
  for (int m = 0; m < memories; ++m) {
    const Text text = make_text(layout, p, seed, m);
    for (int t = 0; t < T; ++t) { // the step of token t + K
      const size_t step = size_t(m) * T + t;
      for (int j = 0; j < K; ++j)
        for (size_t c = 0; c < d; ++c) {
          const double weight = (j + 1 < K && c % 2 ? -1 : 1) / std::sqrt(K); // of the convolution
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
