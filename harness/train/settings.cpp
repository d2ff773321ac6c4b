// SPDX-License-Identifier: Apache-2.0
#include "harness/train/settings.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/sweep.hpp"
#include "harness/core/text.hpp"
#include "harness/pipeline/forward.hpp"
#include "harness/train/texts.hpp"

namespace recollect::train {
namespace {

std::vector<std::string> mixers() {
  std::vector<std::string> names;
  for (const Variant &v : all_variants()) names.push_back(v.name);
  names.push_back("none");
  return names;
}

/// A layer's parameter "LAYER.name": the layer's name, or "" for a setting.
std::string owner_of(const std::string &name) {
  const size_t dot = name.find('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

} // namespace

const std::vector<ParamSpec> &settings() {
  static const std::vector<ParamSpec> all{
      choice_param(
          "task", {"mqar", "copy", "bigrams", "swaps", "trees", "text"},
          "key-value recall (004 §5.2), the first half repeated, recall in running text (003 §6), which of the "
          "elements comes first after each swap (000 §3.2), which nodes the first one reaches (000 §3.3), or the next "
          "byte of a file, which --corpus names (000 §3.1)"),
      integer_param(
          "pairs", 8, 1, 4096,
          "of mqar: n, in texts of 3 n + 1 tokens or more; of copy: tokens to repeat, of 2 n + 1; of bigrams: cues "
          "with a response; of swaps: swaps"),
      integer_param("context", 16, 1, 1 << 20,
                    "of bigrams: L cues and responses written, in texts of 2 L + 1 tokens; of text: bytes of a text"),
      integer_param("elements", 5, 2, 256, "of swaps: n elements, n (n - 1) / 2 swaps as tokens; of trees: nodes"),
      integer_param("length", 0, 0, 1 << 20,
                    "of mqar: tokens of a text, with filler between pairs and separator; 0: 3 n + 1, none"),
      choice_param("filler", {"random", "pairs", "pad"},
                   "of mqar: any tokens but the text's keys, its pairs once more in random order, or the separator"),
      choice_param("values", {"upper", "lower", "any"},
                   "of mqar: half of the vocabulary that values are of; lower: that of the keys"),
      choice_param("key_tokens", {"lower", "any"},
                   "of mqar: keys are of the lower half of the vocabulary, or any tokens but the separator"),
      choice_param(
          "repeats", {"values", "all", "none"},
          "of mqar: what a text may draw twice: values; keys too, the latest value being the answer; or neither"),
      choice_param("map", {"fresh", "fixed"},
                   "of mqar: a text draws its keys' values, or every key has one value in all texts"),
      choice_param("held_out_keys", {"seen", "unseen"},
                   "of mqar: unseen, keys of held-out texts are of the upper half, which has none in training"),
      integer_param("vocabulary", 128, 8, 1 << 20, "tokens: keys of the lower half, values of the upper, a separator"),
      choice_param("labels", {"right", "shuffled"}, "shuffled: a text's answers in random order, to train with"),
      choice_param("mixer", mixers(), "the layer, or none"),
      integer_param("layers", 2, 1, 64, "blocks of mixer and MLP"),
      integer_param("width", 128, 1, 65536, "of the residual stream"),
      integer_param("heads", 4, 1, 1024, "heads of the mixer"),
      integer_param("head_width", 0, 0, 65536, "channels of a head, 0: width / heads"),
      integer_param(
          "kv_heads", 0, 0, 1024,
          "heads of keys, values and decays, each of them for heads / kv_heads queries, lookups and steps; 0: as "
          "many as heads"),
      choice_param("biases", {"none", "all"}, "all: of the projections to the mixer and from it"),
      integer_param("ffn", 256, 0, 1 << 20, "hidden width of the MLP, 0: no MLP"),
      choice_param("norm", {"rms", "layer", "none"}, "before the mixer, the MLP and the answers"),
      real_param(
          "spread", 1, 0, 1e3,
          "matrices and embedding begin as N(0, spread^2 / inputs): 0.577 has PyTorch's variance, 0.226 GPT-2's at "
          "width 128"),
      choice_param("head", {"tied", "own"}, "what reads the answers: the embedding, or a matrix of its own"),
      choice_param("positions", {"learned", "none", "rope"}, "how a token knows where it is"),
      integer_param("convolution", 0, 0, 64, "taps of a causal convolution before the keys' projection, 0: none"),
      choice_param("convolved", {"keys", "all"}, "what sees the convolution: keys, or queries, keys and values"),
      choice_param("keys", {"raw", "unit"}, "unit: keys of every head scaled to length 1"),
      choice_param("lookups", {"own", "keys"}, "w: by a projection of its own, or the keys once more"),
      choice_param(
          "gates", {"tokens", "numbers"},
          "by every token, within 0 and 1; or learned numbers of any size, for all tokens the same: those of decays "
          "(alpha, lambda) begin at 1, those of beta as N(0, 1)"),
      choice_param("reads", {"plain", "rms"}, "rms: what every head reads out scaled to unit mean square"),
      integer_param("batch", 64, 1, 1e6, "texts a step"),
      integer_param("batches", 0, 0, 1e9, "of texts to train on, over and over; 0: every step draws its own"),
      real_param(
          "curriculum", 0, 0, 1,
          "accuracy of a point of the curve at which the pairs double until they are all; 0: all from the start"),
      integer_param("start", 1, 1, 4096, "pairs to begin with under a curriculum"),
      integer_param("steps", 2000, 1, 1e9, "of the optimiser"),
      real_param("lr", 1e-3, 0, 1e3, "peak learning rate"),
      real_param("warmup", 0.1, 0, 1, "part of the steps in which the rate rises; then it falls as a cosine to 0"),
      real_param("clip", 1, 0, no_limit, "largest norm of the gradient, 0: any"),
      real_param("decay", 0.01, 0, 1e3, "AdamW's weight decay, of matrices"),
      integer_param("evaluate", 15, 1, 1e6, "batches of held-out texts that decide the accuracy"),
      choice_param(
          "dtype", {"f64", "f32"},
          "f64: layers by their definitions, the reference; f32: single precision, layers by their fast forms"),
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
  if (s.text("positions") == "rope" && head_width(s) % 2) usage_error("train: rope turns heads of an even width");
  if (heads % heads_of(Tensor::k, s)) usage_error("train: kv_heads must divide heads");
  check_texts(s);
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
