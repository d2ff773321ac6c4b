// SPDX-License-Identifier: Apache-2.0
// One model trained: AdamW, warm-up and cosine, clipping, a fresh batch at every step or those of a few again. The same setup and seed give the
// same numbers, however often it is stopped and taken up again.
#pragma once
#include "harness/train/model.hpp"
#include <algorithm>
#include <optional>

namespace recollect::train {

/// For the whole program. A step asks for what the one before it freed: handing the pages back and faulting them in again
/// took half the time of a small one.
void keep_freed_memory();

/// Learning rate of `step` (from 0) relative to its peak: rises linearly over the warm-up, falls as a cosine to 0.
double schedule(int step, int steps, double warmup);

/// Whether a device has room for one model more like the `models` that it is at work on, twice over: so many bytes were free when
/// the first began, and so many are now. Hosts have, whose memory --memory is about.
bool room_for_another(size_t models, std::optional<std::uint64_t> free_at_first, std::optional<std::uint64_t> free_now);

/// Of the steps since the last point: means over their batches.
struct CurvePoint {
  int step;
  double loss, accuracy;
};

/// Where a run stands.
struct Progressed {
  int step = 0;          // steps made
  bool diverged = false; // a loss or a gradient was not finite
  Numbers running{0, 0}; // sums of loss and accuracy since the last point
  std::vector<CurvePoint> curve;
};
/// All that a run needs to go on.
struct TrainingState : Progressed, Learned {};

class Trainer {
public:
  Trainer(const Setup &setup, std::uint64_t seed);
  const Progressed &progressed() const { return at_; }
  TrainingState state() const { return {at_, model_.get()}; }
  /// Input error where the state is that of another model.
  void restore(TrainingState state);
  /// Pairs of a text at this step: under a curriculum those of its start, doubled for every point of the curve so far that
  /// reached its accuracy.
  int pairs() const;
  bool done() const { return at_.diverged || at_.step >= steps_; }
  /// Steps that are best made at once from here.
  int together() const { return std::min(Model::together(), to_point()); }
  /// Makes so many, fewer where it is done before.
  void step(int steps = 1);
  /// The same in two parts, of at most together(): what is begun goes on beside what others began, and ends with end().
  void begin(int steps = 1);
  void end();
  /// On held-out texts, answers never shuffled, batch by batch. Nothing where it diverged.
  std::vector<Judged> evaluate_batches();
  Judged evaluate();

private:
  /// Steps to the curve's next point, which may change the texts.
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
  bool refused_ = false; // by the mixer, a step that was to begin
};

} // namespace recollect::train
