// SPDX-License-Identifier: Apache-2.0
// A model to be trained, with its numbers in device memory, of the type that the setting `dtype` names. On a GPU models go
// on side by side, each in a lane of its own (device/lane.hpp). Host types only.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/train/texts.hpp"
#include "harness/train/weights.hpp"
#include <memory>
#include <vector>

namespace recollect::train {

struct Judged {
  double loss = 0; // mean cross-entropy of the answers
  int right = 0, asked = 0;
  double gradient_square = 0; // |g|^2, where there is one
  double accuracy() const { return asked ? double(right) / asked : 0; }
};

/// AdamW's step `count` (from 1). A gradient longer than `clip` is cut to that length, unless it is 0; matrices decay by
/// `rate` * `decay`.
struct Update {
  int count;
  double rate, decay, clip;
};

/// What is learned, and AdamW's moments of it.
struct Learned {
  Numbers parameters, first, second;
};

class Model {
public:
  explicit Model(Setup setup);
  ~Model();
  const Weights &weights() const { return weights_; }
  void set(const Learned &learned);
  Learned get() const;

  // Input error where the mixer's gradient meets numbers that are not finite.
  Judged judge(const Texts &texts);
  /// Leaves the gradient of the loss in all parameters.
  Judged differentiate(const Texts &texts);
  Numbers gradient() const;

  /// Models that are best trained at once: a device that one of them leaves idle has room for others.
  static int side_by_side();
  static constexpr size_t most_begun = 32;
  /// Steps that are best begun before any is asked for: a device is at work on one while the host prepares the next.
  static int together();
  /// Begins a step: the gradient, and what is learned from it. Once a loss or a gradient is not finite, nothing is learned
  /// any more until set(). At most most_begun before they are asked for.
  void step(const Texts &texts, const Update &update);
  /// What the steps begun since the last asking came to.
  std::vector<Judged> judged();

private:
  struct Body;
  struct Here;
  Here here() const;
  template <class Real> struct Typed;
  Setup setup_;
  Weights weights_;
  std::unique_ptr<Body> body_;
};

} // namespace recollect::train
