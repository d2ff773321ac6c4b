// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/recorder.hpp"
#include "harness/core/error.hpp"
#include <filesystem>

namespace recollect {
namespace {

Results completed_by(const Results &start, const std::string &path) {
  Results found = Results::read(path);
  const std::string difference = found.differs_from(start);
  if (!difference.empty()) input_error("cannot resume " + path + ": " + difference);
  return found;
}

} // namespace

Recorder::Recorder(const std::string &path, Results start, bool resume) : results_(std::move(start)) {
  if (path.empty()) return;
  output_.reset(new OutputFile(path));
  if (resume && output_->adopt())
    results_ = completed_by(results_, output_->partial());
  else if (resume && std::filesystem::exists(path)) {
    results_ = completed_by(results_, path);
    complete_ = true;
  }
  if (!complete_) save();
}

bool Recorder::due() const {
  const auto passed = std::chrono::steady_clock::now() - saved_;
  return passed > std::chrono::milliseconds(500) && passed > 10 * cost_;
}

void Recorder::save() {
  if (output_) {
    const auto start = std::chrono::steady_clock::now();
    output_->checkpoint(results_.image());
    saved_ = std::chrono::steady_clock::now();
    cost_ = saved_ - start;
  }
  report_all();
}

void Recorder::finish() {
  if (output_ && !complete_) output_->publish(results_.image());
  complete_ = true;
  report_all();
}

void Recorder::report_all() {
  for (const auto &report : waiting_) report();
  waiting_.clear();
}

} // namespace recollect
