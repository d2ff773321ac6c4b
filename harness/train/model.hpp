// SPDX-License-Identifier: Apache-2.0
// Models to be trained side by side, which differ in their numbers alone: in device memory, of the type that the
// setting `dtype` names. Host types only.
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

/// AdamW's step of a model: its `count` (from 1), the gradient times `scale`, decay of matrices by `rate` * `decay`.
struct Update {
  int model, count;
  double rate, decay, scale;
};

class Model {
public:
  explicit Model(Setup setup, int models = 1);
  ~Model();
  const Weights &weights() const { return weights_; }
  void set(const Learned &learned, int model = 0);
  Learned get(int model = 0) const;

  Judged judge(const Texts &texts, int model = 0);
  /// And leaves the gradient of the loss in all parameters, which is not finite where the mixer's met numbers that are
  /// not.
  Judged differentiate(const Texts &texts) { return differentiate({0}, {texts})[0]; }
  /// Of these models, in ascending order, with texts of one shape for each. What others had is lost. OverMemory, and
  /// nothing is changed, where so many at once do not fit.
  std::vector<Judged> differentiate(const std::vector<int> &models, const std::vector<Texts> &texts);

  Numbers gradient(int model = 0) const;
  double gradient_square(int model = 0) const; // |g|^2
  void update(const std::vector<Update> &updates);

private:
  struct Body;
  template <class Real> struct Typed;
  Setup setup_;
  Weights weights_;
  std::unique_ptr<Body> body_;
};

} // namespace recollect::train
