// SPDX-License-Identifier: Apache-2.0
// Texts of multi-query associative recall as zoology generates them (arXiv 2312.04927): first the pairs, then every key
// once more, at places that follow a power law; all other tokens are random. For an untrained memory (tasks) and for
// training (harness/train).
#pragma once
#include "harness/numerics/random.hpp"
#include <functional>
#include <string>

namespace recollect {

struct RecallTextShape {
  int pairs, length, vocabulary;
  int key_tokens = 1;  // 2: keys of two tokens on a grid, so that neither token alone determines the value
  int updates = 0;     // keys that are written again after the pairs; the answer is then the new value
  double power = 0.01; // place g after the pairs holds a query with probability proportional to (g + 1)^(power - 1)

  int context() const { return (pairs + updates) * (key_tokens + 1); }  // tokens before the queries
  int shortest() const { return context() + (key_tokens + 1) * pairs; } // the shortest text that holds all queries
};

/// The tokens of a text, and for each the token to answer with; -1 if none is asked for.
struct RecallText {
  std::vector<int> tokens, answers;
};

/// Usage error, which begins with `where`, if there are no such texts.
void check_recall_text(const RecallTextShape &shape, const std::string &where);
/// `stream` gives the random numbers of each use, by its name.
RecallText recall_text(const RecallTextShape &shape, const std::function<Stream(const char *)> &stream);

} // namespace recollect
