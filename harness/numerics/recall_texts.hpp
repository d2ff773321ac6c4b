// SPDX-License-Identifier: Apache-2.0
// Texts of associative recall, as zoology and MAD generate them. Tasks use them for memories without training,
// harness/train for trained models.
//
// zoology (arXiv 2312.04927), recall_text(): the pairs of key and value come first. Then every key occurs once more as
// a query, at a place drawn by a power law. All other tokens are random.
// MAD (arXiv 2403.17844), noisy_recall_text(): pairs of key and value lie among pairs of noise tokens. Keys are drawn
// with replacement, and each gets one value for the whole text, also drawn with replacement. A key that occurred before
// asks for its value. The last pair repeats a key. One of the other pairs, drawn at random, is never noise, so that
// there is a key to repeat.
#pragma once
#include "harness/numerics/random.hpp"
#include <functional>
#include <string>

namespace recollect {

struct RecallTextShape {
  int pairs, length, vocabulary;
  int key_tokens = 1;  // tokens per key, 1 or 2; if 2, first and second tokens form a grid, and neither tells the value
  int updates = 0;     // number of keys that are written again after the pairs; their new value is the answer
  double power = 0.01; // queries are drawn at place g after the pairs with weight (g + 1)^(power - 1)

  int context() const { return (pairs + updates) * (key_tokens + 1); }  // tokens before the queries
  int shortest() const { return context() + (key_tokens + 1) * pairs; } // the shortest text that holds all queries
};

/// The tokens of a text, and for each position the right answer, or -1 if no answer is asked there.
struct RecallText {
  std::vector<int> tokens, answers;
};

/// Usage error that begins with `where` if no text has this shape.
void check_recall_text(const RecallTextShape &shape, const std::string &where);
/// stream(name) gives the random numbers for the purpose `name`, such as the choice of values.
RecallText recall_text(const RecallTextShape &shape, const std::function<Stream(const char *)> &stream);

/// The vocabulary consists of keys, then values, then noise tokens.
struct NoisyRecallShape {
  int pairs, vocabulary, noise_tokens;
  double noise; // probability that a pair is noise

  int keys() const { return (vocabulary - noise_tokens) / 2; }
  int values() const { return vocabulary - noise_tokens - keys(); }
  int words() const { return keys() + values(); } // number of keys and values; also the first noise token
};

/// Usage error that begins with `where` if no text has this shape.
void check_noisy_recall_text(const NoisyRecallShape &shape, const std::string &where);
/// A text of 2 * shape.pairs tokens.
RecallText noisy_recall_text(const NoisyRecallShape &shape, const std::function<Stream(const char *)> &stream);

} // namespace recollect
