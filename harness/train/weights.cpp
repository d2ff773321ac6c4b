// SPDX-License-Identifier: Apache-2.0
#include "harness/train/weights.hpp"
#include "harness/core/registry.hpp"
#include "harness/numerics/random.hpp"
#include "harness/train/texts.hpp"
#include <cmath>

namespace recollect::train {

std::string in_block(int block, const std::string &name) { return std::to_string(block) + "." + name; }

Weights::Weights(const Setup &setup) {
  const Params &s = setup.settings;
  const int d = s.integer("width"), ffn = s.integer("ffn");
  const auto spread = [&](int inputs) { return s.real("spread") / std::sqrt(double(inputs)); };
  const auto matrix = [&](const std::string &name, int inputs, int outputs) {
    add(name, inputs, outputs, 0, spread(inputs), true);
  };
  const auto norm = [&](const std::string &place) {
    if (s.text("norm") != "none") add(place + "gain", 1, d, 1, 0, false);
    if (s.text("norm") == "layer") add(place + "shift", 1, d, 0, 0, false);
  };
  add("embedding", s.integer("vocabulary"), d, 0, spread(d), true);
  if (s.text("head") == "own") add("head", s.integer("vocabulary"), d, 0, spread(d), true);
  if (s.text("positions") == "learned") add("positions", text_length(s), d, 0, spread(d), true);
  for (int block = 0; block < s.integer("layers"); ++block) {
    const auto name = [&](const char *part) { return in_block(block, part); };
    if (setup.mixer() != "none") {
      norm(name("mixer "));
      if (const int taps = s.integer("convolution"))
        add(name("convolution"), taps, d, 0, 1 / std::sqrt(double(taps)), true);
      const int read = columns_of(Tensor::q, s);
      const auto biased = [&](const std::string &part, int inputs, int outputs) {
        matrix(in_block(block, part), inputs, outputs);
        if (s.text("biases") == "all") add(in_block(block, part + " bias"), 1, outputs, 0, 0, false);
      };
      for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) biased(name_of(tensor), d, columns_of(tensor, s));
      biased("o", read, d);
      for (const Input &input : find_variant(setup.mixer()).inputs) {
        const int outputs = columns_of(input.tensor(), s);
        const bool decay = facts_of(input.tensor()).decay, numbers = s.text("gates") == "numbers";
        if (input.name == "w") {
          if (s.text("lookups") != "keys") biased("w", d, outputs);
          continue;
        }
        if (!numbers) matrix(in_block(block, input.name), d, outputs);
        add(in_block(block, input.name + " bias"), 1, outputs, decay ? (numbers ? 1 : 3) : 0, numbers && !decay, false);
      }
    }
    if (ffn == 0) continue;
    norm(name("ffn "));
    matrix(name("ffn in"), d, ffn);
    add(name("ffn bias"), 1, ffn, 0, 0, false);
    matrix(name("ffn out"), ffn, d);
  }
  norm("");
}

void Weights::add(const std::string &name, int rows, int columns, double mean, double spread, bool decays) {
  const size_t size = size_t(rows) * size_t(columns);
  parts_[name] = {size_, size, mean, spread, decays};
  size_ += size;
}

Numbers Weights::start(std::uint64_t seed) const {
  Numbers all(size_);
  for (const auto &[name, part] : parts_) {
    const Numbers normals = Stream(seed, "train/weights/" + name).normals(part.size);
    for (size_t i = 0; i < part.size; ++i) all[part.offset + i] = part.mean + part.spread * normals[i];
  }
  return all;
}

} // namespace recollect::train
