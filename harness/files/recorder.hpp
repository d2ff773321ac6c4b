// SPDX-License-Identifier: Apache-2.0
// Keeps a run's results on the disk while it goes on.
#pragma once
#include "harness/files/results.hpp"
#include "harness/system/files.hpp"
#include <chrono>
#include <functional>

namespace recollect {

/// PATH.partial is a complete HDF5 file at every instant, and PATH appears when the run is done. What is added is on the
/// disk before it is reported. Files are written whole: at most every half second,
/// and never for more than a tenth of the time. Where several ranks share the work, rank r > 0 keeps PATH.rank-r.partial
/// until rank 0 has everything; what a dead run left of those is taken over by --resume.
class Recorder {
public:
  using Clock = std::chrono::steady_clock;
  /// "" for PATH: nothing is written, and everything is reported at once. `resume`: completes what PATH.partial holds
  /// (or nothing, where PATH itself is complete); input error where that is of another plan, version or seed.
  Recorder(const std::string &path, Results start, bool resume, std::function<Clock::time_point()> now = Clock::now);

  /// On rank 0 everything once the run is finished; until then and elsewhere what this rank has.
  const Results &results() const { return results_; }
  /// What an earlier run of whatever ranks has recorded, on every rank.
  const Results &before() const { return before_; }
  /// `report` is called once the result is safe.
  template <class... What> void add(std::function<void()> report, const What &...what) {
    results_.add(what...);
    waiting_.push_back(std::move(report));
    if (!output_ || due()) save();
  }
  /// Does `work`, which may take minutes and adds nothing: what waits is kept meanwhile, as soon as it is due.
  void during(const std::function<void()> &work);
  /// All ranks together: rank 0 has everything. Once, if not by itself then by finish().
  void gather();
  /// All ranks together: PATH appears.
  void finish();

  /// Whether it is time to write: not twice in half a second, and for no more than this share of all time.
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
