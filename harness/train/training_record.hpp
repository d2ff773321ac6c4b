// SPDX-License-Identifier: Apache-2.0
// The tables of results.h5 about trained models: /training_plan, /training_parameters, /trained, /trained_metrics,
// /training_curves and /trained_statements. For an unfinished run, /training_state holds what the run needs to continue
// with the same numbers.
#pragma once
#include "harness/files/recorder.hpp"
#include "harness/files/suite.hpp"
#include "harness/train/trainer.hpp"
#include <map>
#include <optional>

namespace recollect::train {

struct TrainingRun {
  std::string experiment; // name of the experiment in the suite; "" without a suite
  Setup setup;
  std::uint64_t seed;
};

struct Trained {
  bool diverged;
  double loss, accuracy; // on held-out texts
  double chance;         // accuracy of a guess (texts.hpp)
  double seconds;
  std::map<std::string, double> metrics =
      {}; // "state_bytes": states of all layers and heads; "length": solved_length(), only for task=words
};

/// A run for every setup of every experiment and each of its seeds, which count up from `seed`. Size and hash of the
/// corpus become a setting.
std::vector<TrainingRun> training_plan(const std::vector<Experiment> &experiments, std::uint64_t seed,
                                       const std::shared_ptr<const Corpus> &corpus = nullptr);

/// The table /trained_metrics; null if the file was written by an earlier version, which did not have this table.
const Table *trained_metrics(const Results &results);
/// The contents of a row of /trained, without `metrics`, and of a row of /training_curves.
Trained trained_of(const Table &trained, size_t row);
CurvePoint point_of(const Table &curves, size_t row);

class TrainingRecord {
public:
  /// `path`, `meta`, `resume` and `now` are those of Recorder.
  TrainingRecord(const std::string &path, const std::vector<TrainingRun> &plan,
                 const std::vector<Experiment> &experiments, Facts meta, bool resume,
                 std::function<Recorder::Clock::time_point()> now = Recorder::Clock::now);
  /// The result of a run, if this rank or an earlier process trained the run. Rank 0 has every run after finish().
  std::optional<Trained> trained(size_t run) const;
  /// The state that an earlier process kept, or nothing.
  std::optional<TrainingState> kept(size_t run) const;
  bool due() const { return recorder_.due(0.03); } // whether to keep() a state now; training waits during keep()
  void keep(size_t run, const TrainingState &state);
  /// Adds a trained model. `report` is called once the model is on the disk.
  void add(
      size_t run, const Progressed &progressed, const Trained &trained, std::function<void()> report = [] {});
  const Results &results() const { return recorder_.results(); }
  /// Collects the runs of all ranks on rank 0, adds the table that `statements` makes of them, and completes the file.
  void finish(const std::function<Table(const Results &)> &statements);

private:
  Recorder recorder_;
};

/// Reads the runs of a file. A setting that did not exist when the file was written gets its default value, because at
/// its default a new setting changes nothing.
Results read_trainings(const std::string &path);

/// Results with the plan only, without any trained model.
Results planned_trainings(const std::vector<TrainingRun> &plan, const std::vector<Experiment> &experiments);

/// Merges the trained models of the files, and adds the planned models that no file has trained. Each model appears
/// once. Where a fact differs between files, all its values are listed. Input error if a file has no models.
Results joined_trainings(const std::vector<Results> &files, const Results &planned);

} // namespace recollect::train
