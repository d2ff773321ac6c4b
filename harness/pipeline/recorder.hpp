// SPDX-License-Identifier: Apache-2.0
// Keeps a run's results on the disk while it goes on.
#pragma once
#include "harness/core/files.hpp"
#include "harness/pipeline/results.hpp"
#include <chrono>
#include <functional>

namespace recollect {

/// PATH.partial is a complete HDF5 file at every instant, and PATH appears when the run is done. What is added is on the
/// disk before it is reported. Files are written whole: at most every half second,
/// and never for more than a tenth of the time.
class Recorder {
public:
  /// "" for PATH: nothing is written, and everything is reported at once. `resume`: completes what PATH.partial holds
  /// (or nothing, where PATH itself is complete); input error where that is of another plan, version or seed.
  Recorder(const std::string &path, Results start, bool resume);

  const Results &results() const { return results_; }
  /// `report` is called once the result is safe.
  template <class... What> void add(std::function<void()> report, const What &...what) {
    results_.add(what...);
    waiting_.push_back(std::move(report));
    if (!output_ || due()) save();
  }
  /// PATH appears.
  void finish();

private:
  bool due() const;
  void save();
  void report_all();
  std::unique_ptr<OutputFile> output_;
  Results results_;
  std::vector<std::function<void()>> waiting_;
  std::chrono::steady_clock::time_point saved_;
  std::chrono::duration<double> cost_{0};
  bool complete_ = false;
};

} // namespace recollect
