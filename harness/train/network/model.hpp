// SPDX-License-Identifier: Apache-2.0
// A model being trained. Its numbers are in device memory and have the type of the setting `dtype`. On a GPU several
// models run at the same time, each in its own stream (device/stream.hpp). This header has no device types.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/train/texts.hpp"
#include "harness/train/weights.hpp"
#include <memory>
#include <vector>

namespace recollect::train {

/// Results of a model on a batch of texts.
struct Judged {
  double loss = 0; // mean cross-entropy of the answers
  int right = 0, asked = 0;
  double gradient_square = 0;  // squared norm of the gradient, if one was computed
  std::vector<double> answers; // 1 for a right answer, 0 for a wrong one, text after text; only filled by judge()
  double accuracy() const { return asked ? double(right) / asked : 0; }
};

/// Hyperparameters of AdamW's step number `count`, counted from 1. A gradient whose norm exceeds `clip` is scaled to
/// norm `clip`, unless clip = 0. Each step shrinks matrices by the fraction rate * decay.
struct Update {
  int count;
  double rate, decay, clip;
};

/// The parameters, and AdamW's first and second moments.
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

  Judged judge(const Texts &texts);
  /// Computes the gradient of the loss with respect to all parameters. Input error if the mixer's gradient is not
  /// finite.
  Judged differentiate(const Texts &texts);
  Numbers gradient() const;

  /// How many models should train at the same time. On a GPU more than one, because a single model may leave it idle.
  static int side_by_side();
  static constexpr size_t most_begun = 32;
  /// How many steps should be started before their results are asked for. On a GPU more than one, so that host and
  /// device work at the same time.
  static int together();
  /// Starts a step: the gradient and the update. If a loss or a gradient is not finite, this step and later steps
  /// update nothing until set() is called. At most most_begun steps may be started between two calls of judged().
  void step(const Texts &texts, const Update &update);
  /// Waits for the steps that were started since the last call, and returns their results.
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
