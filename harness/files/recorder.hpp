// SPDX-License-Identifier: Apache-2.0
// Saves a run's results to disk during the run.
#pragma once
#include "harness/files/results.hpp"
#include "harness/system/files.hpp"
#include <chrono>
#include <functional>

namespace recollect {

/// PATH.partial is a complete HDF5 file at every instant; PATH appears when the run is finished. A result is reported
/// after it is on disk. Each write replaces the whole file, so it happens at most every half second and takes at most a
/// tenth of all time. With several ranks, rank r > 0 writes PATH.rank-r.partial until rank 0 has everything; --resume
/// takes over such files of a dead run.
class Recorder {
public:
  using Clock = std::chrono::steady_clock;
  /// PATH "": nothing is written, and everything is reported at once. `resume`: completes PATH.partial (or returns at
  /// once if PATH is complete); input error if its plan, version or seed differs.
  Recorder(const std::string &path, Results start, bool resume, std::function<Clock::time_point()> now = Clock::now);

  /// On rank 0 all results once the run is finished; before that, and on other ranks, this rank's results.
  const Results &results() const { return results_; }
  /// Results of an earlier run with any number of ranks, on every rank.
  const Results &before() const { return before_; }
  /// Calls `report` once the result is on disk.
  template <class... What> void add(std::function<void()> report, const What &...what) {
    results_.add(what...);
    waiting_.push_back(std::move(report));
    if (!output_ || due()) save();
  }
  /// Runs `work`, which may take minutes and adds no results; meanwhile, pending results are saved when due.
  void during(const std::function<void()> &work);
  /// Called by all ranks: rank 0 receives all results. finish() calls it unless it was called before.
  void gather();
  /// Called by all ranks: creates PATH.
  void finish();

  /// Whether to write now: not within half a second of the last write, and for at most this share of all time.
  bool due(double share = 0.1) const;

private:
  void take_over_shards(const Results &start, const std::string &path, bool resume);
  void save();
  void report_all();
  std::unique_ptr<OutputFile> output_;
  Results results_;
  std::vector<std::function<void()>> waiting_;
  std::function<Clock::time_point()> now_;
  Clock::time_point saved_;
  std::chrono::duration<double> cost_{0};
  bool gathered_ = false, complete_ = false;
  Results before_;
};

} // namespace recollect
