// SPDX-License-Identifier: Apache-2.0
// Models trained that differ in their seeds alone, side by side: AdamW, warm-up and cosine, clipping, a fresh batch at
// every step or those of a few again. The same setup and seed give the same numbers, however often a run is stopped and
// taken up again and whatever goes beside it.
#pragma once
#include "harness/train/model.hpp"

namespace recollect::train {

/// For the whole program. A step asks for what the one before it freed: handing the pages back and faulting them in again
/// took half the time of a small one.
void keep_freed_memory();

/// Learning rate of `step` (from 0) relative to its peak: rises linearly over the warm-up, falls as a cosine to 0.
double schedule(int step, int steps, double warmup);

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
  Trainer(const Setup &setup, std::uint64_t seed) : Trainer(setup, std::vector<std::uint64_t>{seed}) {}
  Trainer(const Setup &setup, const std::vector<std::uint64_t> &seeds);
  int runs() const { return int(runs_.size()); }
  const Progressed &progressed(int run = 0) const { return runs_[size_t(run)].at; }
  TrainingState state(int run = 0) const { return {progressed(run), model_.get(run)}; }
  /// Input error where the state is that of another model.
  void restore(TrainingState state, int run = 0);
  /// Pairs of a text at this step: under a curriculum those of its start, doubled for every point of the curve so far that
  /// reached its accuracy.
  int pairs(int run = 0) const;
  bool done(int run) const;
  bool done() const;
  /// One of every run that is not done: at once of those whose texts are as long, or of as many as memory holds.
  void step();
  /// On held-out texts, answers never shuffled, batch by batch. Nothing where it diverged.
  std::vector<Judged> evaluate_batches(int run = 0);
  Judged evaluate(int run = 0);

private:
  struct Run {
    std::uint64_t seed;
    Progressed at;
  };
  void step(const std::vector<int> &runs, int pairs);
  Update made(int run, const Judged &judged);

  Params settings_;
  std::shared_ptr<const Corpus> corpus_;
  std::vector<Run> runs_;
  Model model_;
  int steps_, most_; // runs at once
};

} // namespace recollect::train
