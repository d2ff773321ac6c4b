// SPDX-License-Identifier: Apache-2.0
#include "harness/train/texts.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/distinct.hpp"
#include "harness/numerics/groups.hpp"
#include "harness/numerics/recall_texts.hpp"
#include <algorithm>

namespace recollect::train {
namespace {

struct Drawn { // what one text is drawn from: `stream` belongs to this text, and all texts share `common`
  Stream stream, common;
  const Params &settings;
  bool training;
  const Corpus *corpus;
  std::function<Stream(const char *)> streams; // further streams of this text, by name
  int n = settings.integer("pairs"), V = settings.integer("vocabulary");
};

/// Writes the filler: `count` tokens between the n pairs and the separator. Random number 3 n + i of the stream decides
/// filler token i; the pairs use the numbers before 3 n.
void write_filler(const Drawn &d, const std::vector<int> &keys, const int *pairs, int *tokens, int count) {
  const std::string &kind = d.settings.text("filler");
  if (count == 0) return;
  std::vector<int> others;
  for (int token = 0; token < d.V - 1; ++token)
    if (std::find(keys.begin(), keys.end(), token) == keys.end()) others.push_back(token);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t draw = 3 * std::uint64_t(d.n) + std::uint64_t(i);
    const bool second = kind == "pairs" && i % 2;
    tokens[i] = d.V - 1;
    if (kind == "random") tokens[i] = others[d.stream.below(draw, others.size())];
    if (second) { // if `count` is odd, the last token remains a separator, because a key there would have no value
      const std::uint64_t pair = d.stream.below(draw, std::uint64_t(d.n));
      tokens[i - 1] = pairs[2 * pair], tokens[i] = pairs[2 * pair + 1];
    }
  }
}

/// `count` random numbers below n, made from the numbers first, first + 1, ... of the stream `draw`. They are distinct
/// unless `again` is set.
std::vector<int> numbers(bool again, int count, int n, const Stream &draw, std::uint64_t first) {
  if (!again) return distinct(count, n, draw, first);
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(int(draw.below(first + std::uint64_t(i), std::uint64_t(n))));
  return all;
}

void write_mqar(const Drawn &d, int *tokens, int *labels) {
  const std::uint64_t n = std::uint64_t(d.n);
  const int half = d.V / 2, upper = d.V - 1 - half, asked_from = text_length(d.settings) - d.n;
  const std::string &of = d.settings.text("values"), &repeats = d.settings.text("repeats");
  const bool unseen = !d.training && d.settings.text("held_out_keys") == "unseen",
             any_key = d.settings.text("key_tokens") == "any";
  std::vector<int> keys = numbers(repeats == "all", d.n, any_key ? d.V - 1 : unseen ? upper : half, d.stream, 0);
  if (unseen)
    for (int &key : keys) key += half;
  const std::vector<int> order = distinct(d.n, d.n, d.stream, n);
  const int count = of == "upper" ? upper : of == "lower" ? half : d.V - 1;
  const std::vector<int> values = numbers(repeats != "none", d.n, count, d.stream, 2 * n);
  const bool fixed = d.settings.text("map") == "fixed";
  for (int i = 0; i < d.n; ++i) {
    const int key = tokens[2 * i] = keys[size_t(i)];
    const int drawn = fixed ? int(d.common.below(std::uint64_t(key), std::uint64_t(count))) : values[size_t(i)];
    tokens[2 * i + 1] = (of == "upper" ? half : 0) + drawn;
  }
  write_filler(d, keys, tokens, tokens + 2 * d.n, asked_from - 1 - 2 * d.n);
  tokens[asked_from - 1] = d.V - 1;
  const auto latest = [&](int key) { // the latest value of a key that was written more than once
    int value = 0;
    for (int i = 0; i < d.n; ++i)
      if (tokens[2 * i] == key) value = tokens[2 * i + 1];
    return value;
  };
  for (int i = 0; i < d.n; ++i) {
    const int key = keys[size_t(order[size_t(i)])];
    tokens[asked_from + i] = key, labels[asked_from + i] = latest(key);
  }
}

void write_copy(const Drawn &d, int *tokens, int *labels) {
  for (int i = 0; i < d.n; ++i)
    tokens[i] = tokens[d.n + 1 + i] = labels[d.n + i] = int(d.stream.below(std::uint64_t(i), std::uint64_t(d.V - 1)));
  tokens[d.n] = d.V - 1;
}

/// For every blank, the word that it stands before is drawn uniformly.
void write_selective_copy(const Drawn &d, int *tokens, int *labels) {
  const int length = text_length(d.settings), blank = d.V - 2;
  std::vector<int> blanks(size_t(d.n));
  for (int i = 2 * d.n + 1; i < length; ++i) ++blanks[d.stream.below(std::uint64_t(i), std::uint64_t(d.n))];
  std::fill_n(tokens, length, blank);
  for (int i = 0, at = 0; i < d.n; ++i, ++at) {
    at += blanks[size_t(i)];
    tokens[at] = labels[length - d.n + i] = int(d.stream.below(std::uint64_t(i), std::uint64_t(blank)));
  }
  tokens[length - d.n - 1] = d.V - 1;
}

void write_bigrams(const Drawn &d, int *tokens, int *labels) {
  const int L = d.settings.integer("context");
  const std::uint64_t n = std::uint64_t(d.n);
  const std::vector<int> cues = distinct(d.n, d.V / 2, d.stream, 0), responses = distinct(d.n, d.V / 2, d.stream, n);
  std::vector<int> drawn;
  std::vector<char> before(cues.size());
  for (int i = 0; i <= L; ++i) {
    const std::uint64_t draw = 2 * n + std::uint64_t(i);
    const int pair = i < L ? int(d.stream.below(draw, n)) : drawn[d.stream.below(draw, std::uint64_t(L))];
    drawn.push_back(pair);
    tokens[2 * i] = cues[size_t(pair)];
    const int response = d.V / 2 + responses[size_t(pair)];
    if (i < L) tokens[2 * i + 1] = response;
    if (before[size_t(pair)] && (d.training || i == L)) labels[2 * i] = response;
    before[size_t(pair)] = 1;
  }
}

void write_swaps(const Drawn &d, int *tokens, int *labels) {
  const int elements = d.settings.integer("elements");
  std::vector<int> held;
  for (int i = 0; i < elements; ++i) held.push_back(i);
  for (int t = 0; t < d.n; ++t) {
    tokens[t] = int(d.stream.below(std::uint64_t(t), std::uint64_t(elements) * std::uint64_t(elements - 1) / 2));
    int i = 0, rest = tokens[t]; // a token is the index of its pair in (0,1), (0,2), ..., (1,2), ...
    while (rest >= elements - 1 - i) rest -= elements - 1 - i, ++i;
    const int other = i + 1 + rest;
    std::swap(held[size_t(i)], held[size_t(other)]);
    labels[t] = held[0];
  }
}

void write_words(const Drawn &d, int *tokens, int *labels) {
  const PermutationGroup group = group_named(d.settings.text("group"));
  Permutation product_so_far = group.elements[0];
  for (int t = 0; t < d.n; ++t) {
    tokens[t] = int(d.stream.below(std::uint64_t(t), group.elements.size()));
    product_so_far = product(product_so_far, group.elements[size_t(tokens[t])]);
    labels[t] = group.index_of(product_so_far);
  }
}

RecallTextShape zoology_text(const Params &settings) {
  RecallTextShape shape{settings.integer("pairs"),      settings.integer("length"),  settings.integer("vocabulary"),
                        settings.integer("key_length"), settings.integer("updates"), settings.real("power")};
  if (shape.length == 0) shape.length = shape.shortest();
  return shape;
}

void write_zoology(const Drawn &d, int *tokens, int *labels) {
  const RecallText text = recall_text(zoology_text(d.settings), d.streams);
  std::copy(text.tokens.begin(), text.tokens.end(), tokens);
  std::copy(text.answers.begin(), text.answers.end(), labels);
}

NoisyRecallShape noisy_recall_shape(const Params &settings) {
  return {settings.integer("pairs"), settings.integer("vocabulary"), settings.integer("noise_tokens"),
          settings.real("noise")};
}

void write_noisy_recall(const Drawn &d, int *tokens, int *labels) {
  const RecallText text = noisy_recall_text(noisy_recall_shape(d.settings), d.streams);
  std::copy_n(text.tokens.begin(), text_length(d.settings), tokens);
  std::copy_n(text.answers.begin(), text_length(d.settings), labels);
}

void write_trees(const Drawn &d, int *tokens, int *labels) {
  const int nodes = d.settings.integer("elements");
  std::vector<int> trees[2];
  std::vector<char> first(static_cast<size_t>(nodes));
  first[0] = 1;
  for (int node : distinct(nodes / 2 - 1, nodes - 1, d.stream, 0)) first[size_t(node) + 1] = 1;
  for (int node = 0; node < nodes; ++node) {
    std::vector<int> &tree = trees[first[size_t(node)] ? 0 : 1];
    const std::uint64_t draw = std::uint64_t(nodes) + std::uint64_t(node);
    tokens[node] = tree.empty() ? node : tree[d.stream.below(draw, tree.size())];
    labels[node] = first[size_t(node)] ? 1 : 0;
    tree.push_back(node);
  }
}

void write_text(const Drawn &d, int *tokens, int *labels) {
  const int L = d.settings.integer("context");
  const std::string &bytes = d.corpus->bytes; // NOLINT(clang-analyzer-core.NullDereference): see check_corpus()
  const size_t begin = d.training ? 0 : d.corpus->held_out(), end = d.training ? d.corpus->held_out() : bytes.size();
  const size_t from = begin + d.stream.below(0, end - begin - size_t(L));
  const auto byte = [&](int t) { return int(static_cast<unsigned char>(bytes[from + size_t(t)])); };
  for (int t = 0; t < L; ++t) tokens[t] = byte(t), labels[t] = byte(t + 1);
}

void shuffle(const Drawn &d, int *labels, int length) {
  std::vector<int> asked;
  for (int t = 0; t < length; ++t)
    if (labels[t] >= 0) asked.push_back(t);
  const std::vector<int> right(labels, labels + length),
      order = distinct(int(asked.size()), int(asked.size()), d.stream, 4 * std::uint64_t(length));
  for (size_t i = 0; i < asked.size(); ++i) labels[asked[i]] = right[size_t(asked[size_t(order[i])])];
}

/// The settings of held-out texts.
Params held_out(Params settings) {
  const int pairs = settings.integer("held_out_pairs");
  return pairs ? settings.set("pairs", pairs).set("held_out_pairs", 0) : settings;
}

} // namespace

int text_length(const Params &settings) {
  const int n = settings.integer("pairs");
  const std::string &task = settings.text("task");
  if (task == "mqar") return settings.integer("length") ? settings.integer("length") : 3 * n + 1;
  if (task == "zoology") return zoology_text(settings).length;
  if (task == "copy") return 2 * n + 1;
  if (task == "selective_copy") return settings.integer("length") ? settings.integer("length") : 2 * n + 1;
  if (task == "noisy_recall") return 2 * n - 1; // n pairs without the last value, which may be asked
  if (task == "swaps" || task == "words") return n;
  if (task == "text") return settings.integer("context");
  return task == "trees" ? settings.integer("elements") : 2 * settings.integer("context") + 1;
}

int held_out_length(const Params &settings) { return text_length(held_out(settings)); }

double chance(const Params &trained) {
  const Params settings = held_out(trained);
  const std::string &task = settings.text("task");
  if (task == "trees") return 0.5;
  if (task == "words") return 1.0 / double(group_named(settings.text("group")).elements.size());
  if (task == "selective_copy") return 1.0 / (settings.integer("vocabulary") - 2);
  if (task == "noisy_recall") return 1.0 / noisy_recall_shape(settings).values();
  return 1 / settings.real(task == "copy" || task == "text" ? "vocabulary" : task == "swaps" ? "elements" : "pairs");
}

void check_texts(const Params &settings) {
  const std::string &task = settings.text("task");
  const int V = settings.integer("vocabulary"), n = settings.integer("elements");
  const bool mqar = task == "mqar", any = mqar && settings.text("key_tokens") == "any";
  const std::string repeats = mqar ? settings.text("repeats") : "values", of = settings.text("values");
  const int keys = any ? V - 1 : V / 2, values = of == "upper" ? V - 1 - V / 2 : of == "lower" ? V / 2 : V - 1;
  if ((mqar || task == "bigrams") && repeats != "all" && settings.integer("pairs") > keys)
    usage_error("train: " + task + " has " + std::to_string(keys) + " keys, too few for its pairs");
  if (mqar && repeats == "none" && settings.integer("pairs") > values)
    usage_error("train: mqar has " + std::to_string(values) + " values, too few for pairs without repeats");
  if (mqar && repeats == "none" && settings.text("map") == "fixed")
    usage_error("train: with map=fixed the value of every key is drawn independently, so that values repeat; take "
                "repeats=values");
  if (repeats == "all" && settings.text("filler") == "pairs" && settings.integer("length"))
    usage_error(
        "train: filler=pairs would write a repeated key's older value last; take another filler, or repeats=values");
  if (any && settings.text("held_out_keys") == "unseen")
    usage_error("train: with key_tokens=any no key is unseen; take key_tokens=lower");
  if (task == "mqar" && text_length(settings) < 3 * settings.integer("pairs") + 1)
    usage_error("train: length must leave room for the pairs, the separator and the keys asked, 3 n + 1 tokens");
  if (task == "mqar" && settings.text("held_out_keys") == "unseen" && settings.integer("pairs") > V - 1 - V / 2)
    usage_error("train: unseen keys come from the upper half of the vocabulary without the separator, which has too "
                "few tokens for the pairs");
  if (task == "zoology") check_recall_text(zoology_text(settings), "train: zoology");
  if (task == "noisy_recall") check_noisy_recall_text(noisy_recall_shape(settings), "train: noisy_recall");
  if (task == "selective_copy" && text_length(settings) < 2 * settings.integer("pairs") + 1)
    usage_error("train: length must leave room for the words, the separator and the copy, 2 n + 1 tokens");
  if (task == "trees" && (n % 2 || n > V))
    usage_error("train: task=trees needs an even number of nodes, and a vocabulary with a token for each node");
  if (task == "swaps" && std::max(n, n * (n - 1) / 2) > V)
    usage_error("train: the swaps of " + std::to_string(n) + " elements need a vocabulary of n (n - 1) / 2");
  if (task == "words" && group_named(settings.text("group")).elements.size() > size_t(V))
    usage_error("train: words over " + settings.text("group") + " need a vocabulary of a token for each element, " +
                std::to_string(group_named(settings.text("group")).elements.size()));
  if (settings.integer("held_out_pairs")) {
    if (settings.text("positions") == "learned" && held_out_length(settings) > text_length(settings))
      usage_error("train: learned positions exist only up to the length of the training texts; take positions=none or "
                  "rope for longer texts");
    check_texts(held_out(settings));
  }
  if (task == "text" && V < 256) usage_error("train: text needs a vocabulary of 256, one token per byte");
}

void check_corpus(const Params &settings, const Corpus *corpus) {
  const bool text = settings.text("task") == "text";
  if (text != (corpus != nullptr))
    usage_error(text ? "train: task=text needs --corpus FILE" : "train: only task=text reads --corpus");
  const int L = settings.integer("context");
  if (corpus && corpus->bytes.size() / 10 <= size_t(L))
    input_error("train: a tenth of the corpus is held out, and its " + std::to_string(corpus->bytes.size()) +
                " bytes are too few for texts of " + std::to_string(L));
}

Texts make_texts(const Params &trained, std::uint64_t seed, const std::string &use, std::uint64_t number,
                 const Corpus *corpus) {
  check_corpus(trained, corpus);
  const bool training = use == "train";
  const Params settings = training ? trained : held_out(trained);
  Texts texts;
  texts.count = settings.integer("batch"), texts.length = text_length(settings);
  texts.tokens.assign(size_t(texts.count) * size_t(texts.length), 0);
  texts.labels.assign(texts.tokens.size(), -1);
  const std::string &task = settings.text("task");
  const auto write = task == "mqar"             ? write_mqar
                     : task == "zoology"        ? write_zoology
                     : task == "noisy_recall"   ? write_noisy_recall
                     : task == "copy"           ? write_copy
                     : task == "selective_copy" ? write_selective_copy
                     : task == "bigrams"        ? write_bigrams
                     : task == "swaps"          ? write_swaps
                     : task == "text"           ? write_text
                     : task == "words"          ? write_words
                                                : write_trees;
  for (int i = 0; i < texts.count; ++i) {
    const std::uint64_t text = number * std::uint64_t(texts.count) + std::uint64_t(i);
    const std::string name = "train/texts/" + use;
    const Drawn drawn{
        Stream(seed, name, text), Stream(seed, "train/map"), settings, training, corpus, [&](const char *what) {
          return Stream(seed, name + "/" + what, text);
        }};
    int *tokens = &texts.tokens[size_t(i) * size_t(texts.length)],
        *labels = &texts.labels[size_t(i) * size_t(texts.length)];
    write(drawn, tokens, labels);
    if (training && settings.text("labels") == "shuffled") shuffle(drawn, labels, texts.length);
  }
  return texts;
}

} // namespace recollect::train
