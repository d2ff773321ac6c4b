// SPDX-License-Identifier: Apache-2.0
// Trains one model: AdamW, warm-up and cosine, clipping, a new batch at every step or a few batches repeated. The same
// setup and seed give the same numbers, however often the run is interrupted and resumed.
#pragma once
#include "harness/train/network/model.hpp"
#include <algorithm>
#include <optional>

namespace recollect::train {

/// Learning rate of `step` (from 0) relative to its peak: rises linearly over the warm-up, falls as a cosine to 0.
double schedule(int step, int steps, double warmup);

/// Whether a device that runs `models` models has memory for two more such models, given its free bytes before the
/// first model and now. Always true on a host, where --memory limits the memory.
bool room_for_another(size_t models, std::optional<std::uint64_t> free_at_first, std::optional<std::uint64_t> free_now);

/// A point of a training curve: means over the batches since the last point.
struct CurvePoint {
  int step;
  double loss, accuracy;
};

/// Progress of a run.
struct Progressed {
  int step = 0;          // steps made
  bool diverged = false; // a loss or a gradient was not finite
  Numbers running{0, 0}; // sums of loss and accuracy since the last point of the curve
  std::vector<CurvePoint> curve;
};
/// Everything that a run needs to continue.
struct TrainingState : Progressed, Learned {};

/// Letters before the first one at which fewer than 90% of the words are right, given the answers to all letters of all
/// words.
int solved_length(const Numbers &answers, int letters);

class Trainer {
public:
  Trainer(const Setup &setup, std::uint64_t seed);
  const Progressed &progressed() const { return at_; }
  TrainingState state() const { return {at_, model_.get()}; }
  /// Input error if the state belongs to another model.
  void restore(TrainingState state);
  /// Pairs of a text at this step. A curriculum starts with few pairs, and doubles them at every point of the curve
  /// that reaches the curriculum's accuracy.
  int pairs() const;
  bool done() const { return at_.diverged || at_.step >= steps_; }
  /// How many steps should be made at once from here.
  int together() const { return std::min(Model::together(), to_point()); }
  /// Makes this many steps, or fewer if the run ends.
  void step(int steps = 1);
  /// step() in two parts, for at most together() steps: begin() starts the steps, so that other models can run at the
  /// same time; end() waits for them.
  void begin(int steps = 1);
  void end();
  /// Judges the model on held-out texts, never with shuffled answers, batch by batch. Empty if training diverged.
  std::vector<Judged> evaluate_batches();
  Judged evaluate();

private:
  /// Steps until the curve's next point, which may change the texts.
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
  // Since the last end():
  int begun_ = 0;
  bool refused_ = false; // the mixer threw on a step that was to begin
};

} // namespace recollect::train
