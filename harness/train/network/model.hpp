// SPDX-License-Identifier: Apache-2.0
// A model being trained, with its numbers in device memory, in the type that the setting `dtype` names. On a GPU
// several models run at the same time, each in its own stream (device/stream.hpp). Host types only.
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
  double gradient_square = 0;  // |g|^2, if a gradient was computed
  std::vector<double> answers; // 1 if right, 0 if wrong, text by text; only by judge()
  double accuracy() const { return asked ? double(right) / asked : 0; }
};

/// Hyperparameters of AdamW's step `count` (from 1). A gradient longer than `clip` is scaled to that length, unless
/// clip is 0; matrices decay by `rate` * `decay`.
struct Update {
  int count;
  double rate, decay, clip;
};

/// The parameters, and AdamW's moments.
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

  // Throws an input error if the mixer's gradient is not finite.
  Judged judge(const Texts &texts);
  /// Computes the gradient of the loss in all parameters.
  Judged differentiate(const Texts &texts);
  Numbers gradient() const;

  /// How many models should train at the same time: one model may leave a device idle.
  static int side_by_side();
  static constexpr size_t most_begun = 32;
  /// How many steps should be started before results are asked for, so that host and device work at the same time.
  static int together();
  /// Starts a step: gradient and update. After a loss or gradient that is not finite, nothing is updated until set().
  /// At most most_begun steps may be started before their results are asked for.
  void step(const Texts &texts, const Update &update);
  /// Results of the steps started since the last call.
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
