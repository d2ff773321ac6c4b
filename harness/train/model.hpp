// SPDX-License-Identifier: Apache-2.0
// A model to be trained, with its numbers in device memory, of the type that the setting `dtype` names. Host types only.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/train/texts.hpp"
#include "harness/train/weights.hpp"
#include <functional>
#include <memory>

namespace recollect::train {

struct Judged {
  double loss = 0; // mean cross-entropy of the answers
  int right = 0, asked = 0;
  double gradient_square = 0; // |g|^2, where there is one
  double accuracy() const { return asked ? double(right) / asked : 0; }
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

  /// Input error where the mixer's gradient meets numbers that are not finite.
  Judged judge(const Texts &texts);
  /// Leaves the gradient of the loss in all parameters. `meanwhile` is what the host does while the device is at work.
  Judged differentiate(const Texts &texts, const std::function<void()> &meanwhile = {});

  Numbers gradient() const;
  /// AdamW's step `count` (from 1): the gradient times `scale`, moments, decay of matrices by `rate` * `decay`.
  void update(int count, double rate, double decay, double scale);

private:
  struct Body;
  template <class Real> struct Typed;
  Setup setup_;
  Weights weights_;
  std::unique_ptr<Body> body_;
};

} // namespace recollect::train
