// SPDX-License-Identifier: Apache-2.0
// A model to be trained, with its numbers in device memory, of the type that the setting `dtype` names. Host types only.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/train/texts.hpp"
#include "harness/train/weights.hpp"
#include <memory>

namespace recollect::train {

struct Judged {
  double loss = 0; // mean cross-entropy of the answers
  int right = 0, asked = 0;
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
  Judged differentiate(const Texts &texts); // and leaves the gradient of the loss in all parameters

  Numbers gradient() const;
  double gradient_square() const; // |g|^2
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
