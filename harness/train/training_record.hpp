// SPDX-License-Identifier: Apache-2.0
// What was trained, in results.h5: /training_plan, /training_parameters, /trained, /trained_metrics, /training_curves,
// /trained_statements, and, for unfinished runs, /training_state, from which a run continues with the same numbers.
#pragma once
#include "harness/files/recorder.hpp"
#include "harness/files/suite.hpp"
#include "harness/train/trainer.hpp"
#include <map>
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
  double chance;         // accuracy of a guess (texts.hpp)
  double seconds;
  std::map<std::string, double> metrics =
      {}; // "state_bytes" of all layers and heads; "length": the longest word solved
};

/// Every setup of every experiment with every seed from `seed` on. The size and hash of the corpus become a setting.
std::vector<TrainingRun> training_plan(const std::vector<Experiment> &experiments, std::uint64_t seed,
                                       const std::shared_ptr<const Corpus> &corpus = nullptr);

/// The table of further metrics, which files of earlier programs lack, or null.
const Table *trained_metrics(const Results &results);
/// Contents of a row of /trained, without further metrics, and of one of /training_curves.
Trained trained_of(const Table &trained, size_t row);
CurvePoint point_of(const Table &curves, size_t row);

class TrainingRecord {
public:
  /// Arguments as for Recorder.
  TrainingRecord(const std::string &path, const std::vector<TrainingRun> &plan,
                 const std::vector<Experiment> &experiments, Facts meta, bool resume,
                 std::function<Recorder::Clock::time_point()> now = Recorder::Clock::now);
  /// The result of a run that this rank or an earlier process trained; on rank 0 after finish(), of every run.
  std::optional<Trained> trained(size_t run) const;
  /// The state that an earlier process kept, or nothing.
  std::optional<TrainingState> kept(size_t run) const;
  bool due() const { return recorder_.due(0.03); } // whether it is time to keep a state (device steps must wait)
  void keep(size_t run, const TrainingState &state);
  /// `report` is called once the model is on the disk.
  void add(
      size_t run, const Progressed &progressed, const Trained &trained, std::function<void()> report = [] {});
  const Results &results() const { return recorder_.results(); }
  /// Adds the verdicts on the suite's statements, once rank 0 has all runs.
  void finish(const std::function<Table(const Results &)> &statements);

private:
  Recorder recorder_;
};

/// The runs of a file. A setting newer than the file gets its default, which is how the file's program behaved.
Results read_trainings(const std::string &path);

/// Results with the plan only, without any trained model.
Results planned_trainings(const std::vector<TrainingRun> &plan, const std::vector<Experiment> &experiments);

/// Merges the models of the files, each once, and the planned ones that are in none; facts of the files are listed side
/// by side if they differ. Input error if a file has no models.
Results joined_trainings(const std::vector<Results> &files, const Results &planned);

} // namespace recollect::train
