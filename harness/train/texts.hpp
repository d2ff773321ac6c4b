// SPDX-License-Identifier: Apache-2.0
// The texts that models are trained on.
#pragma once
#include "harness/core/params.hpp"
#include "harness/train/corpus.hpp"
#include <cstdint>

namespace recollect::train {

struct Texts {
  int count = 0, length = 0;
  std::vector<int> tokens, labels; // [count,length]; a label is the right answer, or -1 where no answer is asked
};

/// Batch `number` of the texts for `use`, "train" or "evaluate" (held-out texts). A batch does not depend on which
/// batches were made before. The setting `task` chooses the texts; n is the setting `pairs`, and V is `vocabulary`:
///   mqar     k1 v1 ... kn vn SEP, then the n keys in random order; the answer to each key is its value (004 §5.2).
///            Longer texts have filler before SEP
///   zoology  recall as zoology generates it (numerics/recall_texts.hpp), in texts of `length` tokens
///   noisy_recall
///            n pairs of a key and its value or of noise as MAD generates them (numerics/recall_texts.hpp), without the
///            last value; the answer at a key that occurred before is its value
///   copy     x1 ... xn SEP x1 ... xn; from SEP on the answer is the next token, except at the end
///   selective_copy
///            n words among blanks, SEP, n blanks, in `length` tokens. The answers at the last n blanks are the words in
///            their order (MAD, arXiv 2403.17844). Words are tokens below V - 2, which is the blank
///   bigrams  u1 r1 ... uL rL u with L = `context`: every u is one of n cues, and the text assigns one response r to
///            each cue. An answer is asked at every cue that occurred before, and is the cue's response. Held-out texts
///            ask only at the last u, which always occurred before (003 §6)
///   swaps    n exchanges of two of `elements` elements, which start in order; the answer is the element at place 0
///            after the exchange (000 §3.2, E.4)
///   trees    `elements` nodes in topological order, half in the tree of node 0, half in another tree. A node's token
///            is its parent, a root's token is the root. The answer is 1 if node 0 reaches the node, else 0 (000 §3.3)
///   words    n random elements of a group, as numbers; the answer is the number of their product so far
///            (numerics/groups.hpp)
///   text     `context` bytes of the corpus from a random position; the answer is the next byte
/// In held-out texts n is `held_out_pairs`, unless that is 0. SEP is token V - 1. Unless settings say otherwise, keys
/// are distinct tokens 0 ... V/2 - 1, and values are any tokens V/2 ... V - 2. Cues are distinct tokens below V/2,
/// responses distinct tokens from V/2 on. With labels=shuffled, a training text has its answers in random order.
Texts make_texts(const Params &settings, std::uint64_t seed, const std::string &use, std::uint64_t number,
                 const Corpus *corpus = nullptr);
int text_length(const Params &settings);
int held_out_length(const Params &settings);
/// Accuracy of a random guess in held-out texts: 1/2 for trees, else 1 over the number of answers to choose from (the
/// elements, the group's elements, the words, values or tokens of the vocabulary, or the text's pairs).
double chance(const Params &settings);
/// Usage error if no texts have these settings, for example because the vocabulary is too small.
void check_texts(const Params &settings);
/// Usage error if task=text has no corpus, or if another task has one. Input error if the corpus is too short.
void check_corpus(const Params &settings, const Corpus *corpus);

} // namespace recollect::train
