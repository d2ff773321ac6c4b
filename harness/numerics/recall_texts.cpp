// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/recall_texts.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/distinct.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace recollect {
namespace {

/// A key is a pair of two tokens, so the keys form a square grid with one token per axis. This is the grid's side.
int side_of(const RecallTextShape &s) { return int(std::lround(std::sqrt(s.pairs))); }

/// Draws the places of the queries without replacement. Among the places that are left, place g has a probability
/// proportional to (g + 1)^(power - 1).
std::vector<int> draw_places(const RecallTextShape &s, const Stream &draw) {
  const int count = (s.length - s.context()) / (s.key_tokens + 1);
  // An equivalent way is to sort the places by exponential arrival times with the rates (g + 1)^(power - 1).
  std::vector<double> arrival;
  for (int g = 0; g < count; ++g) arrival.push_back(-std::log(draw.uniform(g)) / std::pow(g + 1, s.power - 1));
  std::vector<int> places(count);
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(), [&](int a, int b) { return arrival[a] < arrival[b]; });
  places.resize(s.pairs);
  return places;
}

} // namespace

void check_recall_text(const RecallTextShape &s, const std::string &where) {
  const int parts = s.key_tokens + 1; // parts of the vocabulary: first tokens of keys, second tokens of keys, values
  if (s.updates > s.pairs) usage_error(where + ": at most as many updates as pairs");
  if (s.key_tokens == 2 && side_of(s) * side_of(s) != s.pairs)
    usage_error(where + ": with keys of two tokens the pairs are a grid; take a square number of pairs");
  if (s.length < s.shortest())
    usage_error(where + ": the pairs, updates and queries need " + std::to_string(s.shortest()) + " tokens");
  if (s.vocabulary / parts <= s.pairs)
    usage_error(where + ": these pairs need a vocabulary of at least " + std::to_string(parts * (s.pairs + 1)));
}

RecallText recall_text(const RecallTextShape &s, const std::function<Stream(const char *)> &stream) {
  const int V = s.vocabulary, K = s.key_tokens, part = V / (K + 1), g = side_of(s), values_from = K * part;
  const std::vector<int> order = stream("order").permutation(s.pairs), updated = stream("updated").permutation(s.pairs);
  const std::vector<int> values = distinct(s.pairs, V - values_from, stream("values"));
  const std::vector<int> firsts = distinct(K == 1 ? s.pairs : g, part - 1, stream("first_tokens"));
  const std::vector<int> seconds = distinct(K == 1 ? 0 : g, part, stream("second_tokens"));
  const Stream filler = stream("filler"), another = stream("updates");
  RecallText text;
  for (int t = 0; t < s.length; ++t) text.tokens.push_back(int(filler.below(t, V)));
  text.answers.assign(s.length, -1);
  const auto put_key = [&](int pair, int at) {
    text.tokens[at] = 1 + firsts[K == 1 ? pair : order[pair] / g]; // token 0 is no key, as in zoology
    if (K == 2) text.tokens[at + 1] = part + seconds[order[pair] % g];
  };
  std::vector<int> last;
  for (int value : values) last.push_back(values_from + value);
  for (int i = 0; i < s.pairs + s.updates; ++i) {
    const int pair = i < s.pairs ? i : updated[i - s.pairs];
    if (i >= s.pairs) { // an update gives the pair any value but its first one
      const int shift = 1 + int(another.below(i, V - values_from - 1));
      last[pair] = values_from + (values[pair] + shift) % (V - values_from);
    }
    put_key(pair, i * (K + 1));
    text.tokens[i * (K + 1) + K] = last[pair];
  }
  const std::vector<int> places = draw_places(s, stream("places"));
  for (int pair = 0; pair < s.pairs; ++pair) {
    const int at = s.context() + places[pair] * (K + 1);
    put_key(pair, at);
    text.answers[at + K - 1] = last[pair];
  }
  return text;
}

void check_noisy_recall_text(const NoisyRecallShape &s, const std::string &where) {
  if (s.pairs < 3) usage_error(where + ": a text has at least 3 pairs");
  if (s.keys() < 1) usage_error(where + ": the vocabulary must exceed the noise tokens by at least 2");
  if (s.noise_tokens < 1 && s.noise > 0) usage_error(where + ": noise > 0 needs noise tokens");
}

RecallText noisy_recall_text(const NoisyRecallShape &s, const std::function<Stream(const char *)> &stream) {
  const Stream noisy = stream("noisy"), noise = stream("noise"), key = stream("keys"), value = stream("values");
  const int kept = int(stream("kept").below(0, s.pairs - 1));
  std::vector<int> value_of(s.keys(), -1), seen;
  RecallText text;
  for (int i = 0; i < s.pairs; ++i) {
    const bool last = i + 1 == s.pairs;
    if (!last && i != kept && noisy.uniform(i) < s.noise) {
      for (int j : {2 * i, 2 * i + 1}) text.tokens.push_back(s.words() + int(noise.below(j, s.noise_tokens)));
      text.answers.resize(text.tokens.size(), -1);
      continue;
    }
    const int k = last ? seen[key.below(i, seen.size())] : int(key.below(i, s.keys()));
    text.answers.push_back(value_of[k]);
    text.answers.push_back(-1);
    if (value_of[k] < 0) {
      value_of[k] = s.keys() + int(value.below(i, s.values()));
      seen.push_back(k);
    }
    text.tokens.push_back(k);
    text.tokens.push_back(value_of[k]);
  }
  return text;
}

} // namespace recollect
