// SPDX-License-Identifier: Apache-2.0
// What was trained, in results.h5: /training_plan, /training_parameters, /trained, /training_curves, /trained_statements,
// and while a run is under way /training_state, from which it goes on to the same numbers.
#pragma once
#include "harness/pipeline/recorder.hpp"
#include "harness/pipeline/suite.hpp"
#include "harness/train/trainer.hpp"
#include <optional>

namespace recollect::train {

struct TrainingRun {
  std::string experiment; // of a suite, or ""
  Setup setup;
  std::uint64_t seed;
};

struct Trained {
  bool diverged;
  double loss, accuracy; // on held-out texts
  double chance;         // accuracy of answering any of the text's values
  double seconds;
};

/// Every setup of every experiment's settings with every seed from `seed` on. What tells the corpus from another becomes a
/// setting of its own.
std::vector<TrainingRun> training_plan(const std::vector<Experiment> &experiments, std::uint64_t seed,
                                       const std::shared_ptr<const Corpus> &corpus = nullptr);

/// What a row of /trained says, and one of /training_curves.
Trained trained_of(const Table &trained, size_t row);
CurvePoint point_of(const Table &curves, size_t row);

class TrainingRecord {
public:
  /// As Recorder's.
  TrainingRecord(const std::string &path, const std::vector<TrainingRun> &plan,
                 const std::vector<Experiment> &experiments, Facts meta, bool resume,
                 std::function<Recorder::Clock::time_point()> now = Recorder::Clock::now);
  /// By this rank or before, and once all is finished on rank 0 by any.
  std::optional<Trained> trained(size_t run) const;
  /// Where it was when an earlier process kept it, or nothing.
  std::optional<TrainingState> kept(size_t run) const;
  bool due() const {
    return recorder_.due(0.03);
  } // whether it is time to keep a state, which a device's steps wait for
  void keep(size_t run, const TrainingState &state);
  /// `report` is called once the model is on the disk.
  void add(
      size_t run, const Progressed &progressed, const Trained &trained, std::function<void()> report = [] {});
  const Results &results() const { return recorder_.results(); }
  /// With what the suite's statements come to, once rank 0 has all.
  void finish(const std::function<Table(const Results &)> &statements);

private:
  Recorder recorder_;
};

/// Those of a file. What its program did not ask yet is answered by the defaults, for they are what it did.
Results read_trainings(const std::string &path);

/// Nothing trained of it.
Results planned_trainings(const std::vector<TrainingRun> &plan, const std::vector<Experiment> &experiments);

/// The models that were trained in the files, each once, and those of the plan that are in none; facts of the files side by
/// side where they differ. Input error where a file has no models.
Results joined_trainings(const std::vector<Results> &files, const Results &planned);

} // namespace recollect::train
