// SPDX-License-Identifier: Apache-2.0
#include "harness/train/texts.hpp"
#include "harness/numerics/random.hpp"

namespace recollect::train {
namespace {

/// `count` distinct numbers below n, in random order, from the stream's draws on.
std::vector<int> distinct(int count, int n, const Stream &draw, std::uint64_t first) {
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  for (int i = 0; i < count; ++i)
    std::swap(all[size_t(i)], all[size_t(i) + draw.below(first + std::uint64_t(i), std::uint64_t(n - i))]);
  all.resize(size_t(count));
  return all;
}

struct Drawn { // one text's random numbers, a stream of its own
  Stream stream;
  int n, V;
};

void write_mqar(const Drawn &d, int *tokens, int *labels) {
  const std::uint64_t n = std::uint64_t(d.n);
  const std::vector<int> keys = distinct(d.n, d.V / 2, d.stream, 0), order = distinct(d.n, d.n, d.stream, n);
  for (int i = 0; i < d.n; ++i) {
    tokens[2 * i] = keys[size_t(i)];
    tokens[2 * i + 1] = d.V / 2 + int(d.stream.below(2 * n + std::uint64_t(i), std::uint64_t(d.V - 1 - d.V / 2)));
  }
  tokens[2 * d.n] = d.V - 1;
  for (int i = 0; i < d.n; ++i) {
    const int asked = order[size_t(i)];
    tokens[2 * d.n + 1 + i] = keys[size_t(asked)], labels[2 * d.n + 1 + i] = tokens[2 * asked + 1];
  }
}

void write_copy(const Drawn &d, int *tokens, int *labels) {
  for (int i = 0; i < d.n; ++i)
    tokens[i] = tokens[d.n + 1 + i] = labels[d.n + i] = int(d.stream.below(std::uint64_t(i), std::uint64_t(d.V - 1)));
  tokens[d.n] = d.V - 1;
}

void shuffle(const Drawn &d, int *labels, int length) {
  std::vector<int> asked;
  for (int t = 0; t < length; ++t)
    if (labels[t] >= 0) asked.push_back(t);
  const std::vector<int> right(labels, labels + length),
      order = distinct(int(asked.size()), int(asked.size()), d.stream, 4 * std::uint64_t(length));
  for (size_t i = 0; i < asked.size(); ++i) labels[asked[i]] = right[size_t(asked[size_t(order[i])])];
}

} // namespace

int text_length(const Params &settings) {
  const int n = settings.integer("pairs");
  return settings.text("task") == "mqar" ? 3 * n + 1 : 2 * n + 1;
}

Texts make_texts(const Params &settings, std::uint64_t seed, const std::string &use, std::uint64_t number) {
  Texts texts;
  texts.count = settings.integer("batch"), texts.length = text_length(settings);
  texts.tokens.assign(size_t(texts.count) * size_t(texts.length), 0);
  texts.labels.assign(texts.tokens.size(), -1);
  const bool mqar = settings.text("task") == "mqar", shuffled = settings.text("labels") == "shuffled" && use == "train";
  for (int i = 0; i < texts.count; ++i) {
    const Drawn drawn{Stream(seed, "train/texts/" + use, number * std::uint64_t(texts.count) + std::uint64_t(i)),
                      settings.integer("pairs"), settings.integer("vocabulary")};
    int *tokens = &texts.tokens[size_t(i) * size_t(texts.length)],
        *labels = &texts.labels[size_t(i) * size_t(texts.length)];
    mqar ? write_mqar(drawn, tokens, labels) : write_copy(drawn, tokens, labels);
    if (shuffled) shuffle(drawn, labels, texts.length);
  }
  return texts;
}

} // namespace recollect::train
