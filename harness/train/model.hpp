// SPDX-License-Identifier: Apache-2.0
// A small language model: token embedding, blocks of x += mixer(norm x), x += MLP(norm x), a head that reads the answers
// off norm x, and cross-entropy at the positions that are asked. The mixer is the registry's layer, in its definition.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/train/texts.hpp"
#include "harness/train/weights.hpp"

namespace recollect::train {

struct Judged {
  double loss = 0; // mean cross-entropy of the answers
  int right = 0, asked = 0;
  double accuracy() const { return asked ? double(right) / asked : 0; }
};

class Model {
public:
  explicit Model(Setup setup);
  const Weights &weights() const { return weights_; }
  /// Where `gradient` is not null it becomes that of the loss in all parameters. Input error where the mixer meets
  /// numbers that are not finite.
  Judged run(const Numbers &parameters, const Texts &texts, Numbers *gradient = nullptr) const;

private:
  struct Mixing; // what a block leaves for the way back
  struct Block;
  class Pass;
  Setup setup_;
  Weights weights_;
  const Variant *mixer_; // null: none
};

} // namespace recollect::train
