// SPDX-License-Identifier: Apache-2.0 Trains one model with AdamW, gradient clipping and a learning rate that warms up
// and then falls as a cosine. Every step has a new batch, or the run uses a few batches again and again. The same setup
// and seed give the same numbers, however often the run is interrupted and resumed.
#pragma once
#include "harness/train/network/model.hpp"
#include <algorithm>
#include <optional>

namespace recollect::train {

/// Learning rate of step number `step`, counted from 0, relative to the peak rate. It rises linearly over the warm-up
/// and then falls to 0 as a cosine.
double schedule(int step, int steps, double warmup);

/// Whether another model may be started on a device that trains `models` models. The device must have memory for two
/// more models of their mean size, which follows from the free bytes before the first model and now. True if the free
/// bytes are unknown, as on a host, where --memory limits the memory.
bool room_for_another(size_t models, std::optional<std::uint64_t> free_at_first, std::optional<std::uint64_t> free_now);

/// A point of a training curve: mean loss and accuracy of the batches since the previous point.
struct CurvePoint {
  int step;
  double loss, accuracy;
};

/// Progress of a run.
struct Progressed {
  int step = 0;          // steps made
  bool diverged = false; // a loss or a gradient was not finite
  Numbers running{0, 0}; // sums of loss and of accuracy over the batches since the last point of the curve
  std::vector<CurvePoint> curve;
};
/// Everything that a run needs to continue.
struct TrainingState : Progressed, Learned {};

/// The number of letters, from the first on, at each of which at least 90% of the words are answered right. `answers`
/// [words,letters] holds 1 where the model's answer is right, else 0.
int solved_length(const Numbers &answers, int letters);

class Trainer {
public:
  Trainer(const Setup &setup, std::uint64_t seed);
  const Progressed &progressed() const { return at_; }
  TrainingState state() const { return {at_, model_.get()}; }
  /// Input error if the state belongs to another model.
  void restore(TrainingState state);
  /// Number of pairs of a text at the current step. A curriculum starts with few pairs and doubles their number at
  /// every point of the training curve whose accuracy reaches the setting `curriculum`.
  int pairs() const;
  bool done() const { return at_.diverged || at_.step >= steps_; }
  /// How many steps should be started before the host waits for their results.
  int together() const { return std::min(Model::together(), to_point()); }
  /// Makes this many steps, or fewer if the run ends.
  void step(int steps = 1);
  /// The two parts of step(): begin() starts steps, at most together() of them, and end() waits for them. Between the
  /// two calls other models can run.
  void begin(int steps = 1);
  void end();
  /// Judges the model on each batch of held-out texts, whose answers are never shuffled. Empty if training diverged.
  std::vector<Judged> evaluate_batches();
  Judged evaluate();

private:
  /// Number of steps until the next point of the training curve, after which a curriculum may ask for other texts.
  int to_point() const;
  Texts texts(int step) const;
  Update update(int step) const;
  void note(const Judged &judged);

  Params settings_;
  std::shared_ptr<const Corpus> corpus_;
  Model model_;
  std::uint64_t seed_;
  int steps_;
  Progressed at_;
  int begun_ = 0;        // steps started since the last end()
  bool refused_ = false; // whether the mixer threw when a step was started since the last end()
};

} // namespace recollect::train
