// SPDX-License-Identifier: Apache-2.0
// Saves a run's results to disk during the run.
#pragma once
#include "harness/files/results.hpp"
#include "harness/system/files.hpp"
#include <chrono>
#include <functional>

namespace recollect {

/// During the run PATH.partial is a complete HDF5 file at every instant. PATH appears when the run is finished. A
/// result is reported once it is on disk. Each write replaces the whole file; therefore writes are at least half a
/// second apart and take at most a tenth of all time. With several ranks, rank r > 0 writes its results to
/// PATH.rank-r.partial, a shard without the plan, until rank 0 has all results. With --resume, a run takes over the
/// shards of an interrupted run.
class Recorder {
public:
  using Clock = std::chrono::steady_clock;
  /// If `path` is "", nothing is written and every result is reported at once. With `resume`, the run completes
  /// PATH.partial. If only PATH exists, the run is already complete. Input error if the plan, the version or the seed
  /// of the file differs.
  Recorder(const std::string &path, Results start, bool resume, std::function<Clock::time_point()> now = Clock::now);

  /// The results of this rank; after gather(), rank 0 has the results of all ranks. Only rank 0 has the plan.
  const Results &results() const { return results_; }
  /// The results, without the plan, of the interrupted run that is resumed. They are the same on every rank, even if
  /// the interrupted run had another number of ranks.
  const Results &before() const { return before_; }
  /// Adds a result, and calls `report` once the result is on disk.
  template <class... What> void add(std::function<void()> report, const What &...what) {
    results_.add(what...);
    waiting_.push_back(std::move(report));
    if (!output_ || due()) save();
  }
  /// Runs `work`, which may take minutes and adds no results. Meanwhile a second thread saves the results that are not
  /// on disk yet.
  void during(const std::function<void()> &work);
  /// Must be called by all ranks. Rank 0 receives all results. finish() calls gather() if it was not called before.
  void gather();
  /// Must be called by all ranks. Rank 0 creates PATH.
  void finish();

  /// Whether to write now. Writes are at least half a second apart, and so rare that they take at most the fraction
  /// `share` of all time.
  bool due(double share = 0.1) const;

private:
  void take_over_shards(const std::string &path, bool resume);
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
