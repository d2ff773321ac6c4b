// SPDX-License-Identifier: Apache-2.0
// The texts that models are trained on.
#pragma once
#include "harness/core/params.hpp"
#include "harness/train/corpus.hpp"
#include <cstdint>

namespace recollect::train {

struct Texts {
  int count = 0, length = 0;
  std::vector<int> tokens, labels; // [count,length]; label -1: not asked
};

/// Batch `number` of a use of texts ("train", "evaluate"): the same for a seed whatever was drawn before.
///   mqar  k1 v1 ... kn vn SEP, then the n keys in random order, each to be answered by its value (004 §5.2);
///         in longer texts filler before SEP
///   copy  x1 ... xn SEP x1 ... xn, each but the last of the second half to be followed by the next, SEP by x1
///   bigrams  u1 r1 ... uL rL u, every u one of n cues that a text gives a response each, one to one, the last u one that
///            came before; asked for its response is each cue that came before, held out the last alone (003 §6)
///   swaps the n (n - 1) / 2 swaps of two of the places 0 ... n - 1, each to be followed by the element then at place 0 of
///         what began in order (000 §3.2, E.4)
///   trees n nodes in topological order, half of them in the tree that node 0 begins, half in another, each the token of its
///         parent, a root its own; asked, 1 or 0, is whether node 0 reaches it (000 §3.3)
///   text  `context` bytes of the corpus from a random place on, each to be followed by the next
/// Keys are distinct tokens 0 ... V/2 - 1, values any of V/2 ... V - 2 where the settings say no other, SEP is V - 1. Cues
/// are of the lower half, responses distinct tokens of the upper. Shuffled labels are the same answers in random order.
Texts make_texts(const Params &settings, std::uint64_t seed, const std::string &use, std::uint64_t number,
                 const Corpus *corpus = nullptr);
int text_length(const Params &settings);
/// Accuracy of naming any of the values that a text holds, or any byte.
double chance(const Params &settings);
/// Usage error where the vocabulary is too small.
void check_texts(const Params &settings);
/// Usage error where texts need a corpus and there is none, or the other way round; input error where it is too short.
void check_corpus(const Params &settings, const Corpus *corpus);

} // namespace recollect::train
