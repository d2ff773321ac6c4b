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

/// Batch `number` of the texts for `use`: "train", or "evaluate" for held-out texts. A batch does not depend on which
/// batches were made before. The setting `task` chooses the kind of texts. n is the setting `pairs`, V is `vocabulary`,
/// and SEP is token V - 1, the separator:
///   mqar     k1 v1 ... kn vn SEP, then the n keys in random order; the answer to each key is its value (004 §5.2). If
///            `length` is larger, filler stands before SEP
///   zoology  recall as zoology generates it (numerics/recall_texts.hpp), in texts of `length` tokens
///   noisy_recall
///            n pairs, each a key and its value or two noise tokens, as MAD generates them (numerics/recall_texts.hpp);
///            the last value is left out. At a key that occurred before, the answer is its value
///   copy     x1 ... xn SEP x1 ... xn; from SEP to the last token but one, the answer is the next token
///   selective_copy
///            n words among blanks, SEP, n blanks: `length` tokens in all. The answers at the last n blanks are the
///            words in their order (MAD, arXiv 2403.17844). The blank is token V - 2; words are tokens below V - 2
///   bigrams  u1 r1 ... uL rL u with L = `context`. Every u is one of n cues, and each cue has one response r in the
///   whole
///            text. At every cue that occurred before, the answer is its response. Held-out texts ask only at the last
///            u, which always occurred before (003 §6)
///   swaps    n tokens, each an exchange of two of `elements` elements, which are in order at the start; the answer is
///            the element at place 0 after the exchange (000 §3.2, E.4)
///   trees    a token for each of `elements` nodes, in topological order. Half of the nodes are in the tree of node 0,
///            half in another tree. The token of a node is its parent, or the node itself if it is a root. The answer
///            is 1 if the node is in the tree of node 0, else 0 (000 §3.3)
///   words    n random elements of a group, each as its index; the answer is the index of the product of the elements
///   up
///            to there (numerics/groups.hpp)
///   text     `context` bytes of the corpus from a random position; the answer is the next byte
/// In held-out texts, n is the setting `held_out_pairs`, unless that is 0. In mqar, unless settings say otherwise, keys
/// are distinct tokens 0 ... V/2 - 1, and values are any tokens V/2 ... V - 2. In bigrams, cues are distinct tokens
/// below V/2, and responses are distinct tokens from V/2 on. With labels=shuffled, a training text has its answers in
/// random order.
Texts make_texts(const Params &settings, std::uint64_t seed, const std::string &use, std::uint64_t number,
                 const Corpus *corpus = nullptr);
int text_length(const Params &settings);
int held_out_length(const Params &settings);
/// Accuracy of a random guess in held-out texts: 1/2 for trees. For other tasks, 1 over the number of answers to choose
/// from: the elements (swaps), the elements of the group (words), the words (selective_copy), values (noisy_recall) or
/// tokens (copy, text) of the vocabulary, or the pairs of the text (mqar, zoology, bigrams).
double chance(const Params &settings);
/// Usage error if no texts have these settings, for example because the vocabulary is too small.
void check_texts(const Params &settings);
/// Usage error if task=text has no corpus, or if another task has one. Input error if the corpus is too short.
void check_corpus(const Params &settings, const Corpus *corpus);

} // namespace recollect::train
