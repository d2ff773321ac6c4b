// SPDX-License-Identifier: Apache-2.0
// The texts that models are trained on.
#pragma once
#include "harness/core/params.hpp"
#include "harness/train/corpus.hpp"
#include <cstdint>

namespace recollect::train {

struct Texts {
  int count = 0, length = 0;
  std::vector<int> tokens, labels; // [count,length]; -1: no answer is asked here
};

/// Batch `number` for a purpose ("train", "evaluate"): depends on the seed and the number only.
///   mqar     k1 v1 ... kn vn SEP, then the n keys in random order; the answer to each is its value (004 §5.2).
///            Longer texts have filler before SEP
///   zoology  recall as zoology generates it (numerics/recall_texts.hpp), in texts of `length` tokens
///   copy     x1 ... xn SEP x1 ... xn; from SEP on the answer is the next token, except at the end
///   bigrams  u1 r1 ... uL rL u: every u is one of n cues, and the text assigns one response to each cue. The answer
///            to a cue that occurred before is its response; in held-out texts only the last u, which occurred
///            before, is asked (003 §6)
///   swaps    swaps of two of the places 0 ... n - 1, from the ordered start; the answer is the element that is then
///            at place 0 (000 §3.2, E.4)
///   trees    n nodes in topological order, half in the tree of node 0, half in another. A node's token is its parent,
///            a root's token is the root. The answer, 1 or 0, is whether node 0 reaches the node (000 §3.3)
///   words    elements of a group, numbered; the answer is the number of the product so far (numerics/groups.hpp)
///   text     `context` bytes of the corpus from a random position; the answer is the next byte
/// Held-out texts have `held_out_pairs` pairs, unless that is 0.
/// Keys are distinct tokens 0 ... V/2 - 1 and values any of V/2 ... V - 2, unless settings say otherwise; SEP is V - 1.
/// Cues are in the lower half, responses distinct tokens of the upper half. Shuffled labels are the same answers in
/// random order.
Texts make_texts(const Params &settings, std::uint64_t seed, const std::string &use, std::uint64_t number,
                 const Corpus *corpus = nullptr);
int text_length(const Params &settings);
int held_out_length(const Params &settings);
/// Accuracy in held-out texts of a guess among the values that occur in the text, all bytes, or all elements.
double chance(const Params &settings);
/// Usage error if the vocabulary is too small.
void check_texts(const Params &settings);
/// Usage error if texts need a corpus and there is none, or the reverse; input error if it is too short.
void check_corpus(const Params &settings, const Corpus *corpus);

} // namespace recollect::train
