// SPDX-License-Identifier: Apache-2.0
#include "harness/train/settings.hpp"
#include "harness/call/forward.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/sweep.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/groups.hpp"
#include "harness/train/texts.hpp"

namespace recollect::train {
namespace {

std::vector<std::string> mixers() {
  std::vector<std::string> names;
  for (const Variant &v : all_variants()) names.push_back(v.name);
  names.push_back("none");
  return names;
}

/// The layer of a parameter "LAYER.name"; "" for a setting, which has no dot.
std::string owner_of(const std::string &name) {
  const size_t dot = name.find('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

} // namespace

const std::vector<ParamSpec> &settings() {
  static const std::vector<ParamSpec> all{
      choice_param(
          "task",
          {"mqar", "zoology", "noisy_recall", "copy", "selective_copy", "bigrams", "swaps", "trees", "text", "words"},
          "mqar: key-value recall (004 §5.2); zoology: recall as zoology generates it (arXiv 2312.04927); "
          "noisy_recall: MAD's recall among noise (arXiv 2403.17844); copy: repeat the first half; selective_copy: "
          "MAD's copy of the words among blanks; bigrams: recall in running text (003 §6); "
          "swaps: which element is first after each swap (000 §3.2); trees: which nodes the first one reaches "
          "(000 §3.3); text: the next byte of the file that --corpus names (000 §3.1); words: the product of a group's "
          "elements after each of them"),
      integer_param("pairs", 8, 1, 4096,
                    "mqar: n pairs, in texts of at least 3 n + 1 tokens; zoology: n pairs, in texts of at least 4 n; "
                    "noisy_recall: n pairs of tokens; copy: n tokens to repeat, in texts of 2 n + 1; selective_copy: "
                    "n words; bigrams: cues that have a response; swaps: number of swaps; words: letters"),
      integer_param("held_out_pairs", 0, 0, 1 << 20, "pairs of held-out texts, which may be longer; 0: as in training"),
      choice_param("group", group_names(), "words: the group; parity is Z2"),
      integer_param("context", 16, 1, 1 << 20,
                    "bigrams: L cues with responses, in texts of 2 L + 1 tokens; text: bytes per text"),
      integer_param("elements", 5, 2, 256,
                    "swaps: n elements, with n (n - 1) / 2 possible swaps as tokens; trees: nodes"),
      integer_param(
          "length", 0, 0, 1 << 20,
          "mqar: tokens per text, with filler between the pairs and the separator; 0: 3 n + 1 tokens, no filler; "
          "zoology, selective_copy: tokens per text; 0: as few as possible"),
      real_param("noise", 0.2, 0, 1, "noisy_recall: probability that a pair is noise"),
      integer_param("noise_tokens", 16, 0, 1 << 20, "noisy_recall: noise tokens of the vocabulary"),
      real_param("power", 0.01, 0, 1,
                 "zoology: 1 plus the exponent of the power law of the queries' places; 1: uniform"),
      integer_param("updates", 0, 0, 4096, "zoology: keys written again with another value"),
      integer_param("key_length", 1, 1, 2, "zoology: tokens per key; 2: the pairs are a grid of keys"),
      choice_param("filler", {"random", "pairs", "pad"},
                   "mqar: random: any token that is no key of the text; pairs: its pairs again in random order; pad: "
                   "the separator"),
      choice_param("values", {"upper", "lower", "any"},
                   "mqar: half of the vocabulary from which values are drawn; keys are in the lower half"),
      choice_param("key_tokens", {"lower", "any"},
                   "mqar: keys are drawn from the lower half of the vocabulary, or from all tokens but the separator"),
      choice_param("repeats", {"values", "all", "none"},
                   "mqar: what may occur twice in a text: values; all: keys too (the answer is the latest value); "
                   "none: neither"),
      choice_param(
          "map", {"fresh", "fixed"},
          "mqar: fresh: every text draws new values for its keys; fixed: a key has the same value in all texts"),
      choice_param("held_out_keys", {"seen", "unseen"},
                   "mqar: unseen: keys of held-out texts come from the upper half, which has no keys in training"),
      integer_param("vocabulary", 128, 8, 1 << 20,
                    "number of tokens: keys in the lower half, values in the upper half, one separator"),
      choice_param("labels", {"right", "shuffled"},
                   "shuffled: the answers of each training text are put into random order"),
      choice_param("mixer", mixers(), "the layer, or none"),
      integer_param("layers", 2, 1, 64, "blocks of mixer and MLP"),
      integer_param("width", 128, 1, 65536, "width of the residual stream"),
      integer_param("heads", 4, 1, 1024, "heads of the mixer"),
      integer_param("head_width", 0, 0, 65536, "channels per head; 0: width / heads"),
      integer_param("kv_heads", 0, 0, 1024,
                    "heads of keys, values and decays, each shared by heads / kv_heads heads of queries, lookups and "
                    "steps; 0: as "
                    "many as heads"),
      choice_param("biases", {"none", "all"}, "all: the projections into and out of the mixer have biases"),
      integer_param("ffn", 256, 0, 1 << 20, "hidden width of the MLP; 0: no MLP"),
      choice_param("norm", {"rms", "layer", "none"}, "normalisation before the mixer, the MLP and the output head"),
      real_param(
          "spread", 1, 0, 1e3,
          "matrices and embedding are initialised as N(0, spread^2 / inputs); 0.577 gives PyTorch's variance, 0.226 "
          "GPT-2's at width 128"),
      choice_param("head", {"tied", "own"}, "output head: tied: the embedding; own: a separate matrix"),
      choice_param("positions", {"learned", "none", "rope"}, "position encoding"),
      integer_param("convolution", 0, 0, 64, "taps of a causal convolution before the key projection; 0: none"),
      choice_param("convolved", {"keys", "all"},
                   "what the convolution is applied to: keys; or queries, keys and values"),
      choice_param("keys", {"raw", "unit"}, "unit: the keys of every head are scaled to length 1"),
      choice_param("lookups", {"own", "keys", "unit"},
                   "how w is made: own: by a separate projection; keys: it is the key; unit: by a separate projection, "
                   "scaled to length 1"),
      choice_param("gates", {"tokens", "numbers"},
                   "tokens: computed from each token, in (0, 1); numbers: learned numbers, the same for all tokens and "
                   "not bounded: "
                   "decays (alpha, lambda) start at 1, beta as N(0, 1)"),
      real_param("beta_below", 1, 0, 4,
                 "upper end of beta for gates=tokens; with unit keys 2 allows eigenvalues down to -1"),
      choice_param("reads", {"plain", "rms"}, "rms: the output of every head is scaled to unit mean square"),
      integer_param("batch", 64, 1, 1e6, "texts per step"),
      integer_param("batches", 0, 0, 1e9, "number of batches, used again and again; 0: every step draws a new one"),
      real_param("curriculum", 0, 0, 1,
                 "accuracy at which the number of pairs doubles, up to `pairs`; 0: all pairs from the start"),
      integer_param("start", 1, 1, 4096, "number of pairs at the start of a curriculum"),
      integer_param("steps", 2000, 1, 1e9, "optimiser steps"),
      real_param("lr", 1e-3, 0, 1e3, "peak learning rate"),
      real_param("warmup", 0.1, 0, 1,
                 "fraction of the steps in which the learning rate rises; then it falls to 0 as a cosine"),
      real_param("clip", 1, 0, no_limit, "norm at which the gradient is clipped; 0: not clipped"),
      real_param("decay", 0.01, 0, 1e3, "AdamW's weight decay, applied to matrices"),
      integer_param("evaluate", 15, 1, 1e6, "batches of held-out texts over which accuracy is measured"),
      choice_param("dtype", {"f64", "f32"},
                   "f64: layers run by their definitions (the reference); f32: single precision, layers run by their "
                   "fast forms"),
      integer_param("every", 50, 1, 1e9, "steps between two points of the curves")};
  return all;
}

int head_width(const Params &s) {
  const int given = s.integer("head_width");
  return given ? given : s.integer("width") / s.integer("heads");
}
int heads_of(Tensor tensor, const Params &s) {
  const int given = s.integer("kv_heads");
  const bool stored = tensor == Tensor::k || tensor == Tensor::v || facts_of(tensor).decay;
  return stored && given ? given : s.integer("heads");
}
int columns_of(Tensor tensor, const Params &s) {
  const int D = head_width(s);
  return heads_of(tensor, s) * width_of(tensor, {1, 1, 1, D, D});
}

const Variant *Setup::layer() const { return mixer() == "none" ? nullptr : &find_variant(mixer()); }

Setup resolve_setup(const Assignments &given) {
  Assignments own;
  for (const auto &[name, text] : given)
    if (owner_of(name).empty()) own[name] = text;
  Setup setup{resolve(settings(), own, "train"), {}};
  const Variant *mixer = setup.layer();
  Assignments layer;
  for (const auto &[name, text] : given)
    if (const std::string owner = owner_of(name); !owner.empty() && &find_variant(owner) == mixer)
      layer[name.substr(owner.size() + 1)] = text;
  if (mixer) setup.mixer_params = variant_params(*mixer, layer);
  const Params &s = setup.settings;
  const int width = s.integer("width"), heads = s.integer("heads");
  if (s.integer("head_width") == 0 && width % heads) usage_error("train: heads must divide width, or give head_width");
  if (s.text("positions") == "rope" && head_width(s) % 2)
    usage_error("train: positions=rope needs heads of an even width");
  if (heads % heads_of(Tensor::k, s)) usage_error("train: kv_heads must divide heads");
  check_texts(s);
  if (mixer && mixer->unsuitable) {
    const int D = head_width(s);
    const std::string why = mixer->unsuitable({s.integer("batch"), heads, text_length(s), D, D}, setup.mixer_params);
    if (!why.empty()) usage_error("train: " + mixer->name + " cannot be this model's mixer: " + why);
  }
  return setup;
}

std::vector<Setup> setups(const Assignments &given) {
  std::vector<Assignments> all{{}};
  for (const auto &[name, text] : given) {
    std::vector<Assignments> longer;
    for (const Assignments &one : all)
      for (const std::string &value : expand_values(text, "train: " + name)) {
        longer.push_back(one);
        longer.back()[name] = value;
      }
    all = std::move(longer);
  }
  std::vector<Setup> found;
  for (const Assignments &one : all) found.push_back(resolve_setup(one));
  return found;
}

} // namespace recollect::train
