// SPDX-License-Identifier: Apache-2.0
#include "harness/files/recorder.hpp"
#include "harness/core/error.hpp"
#include "harness/system/ranks.hpp"
#include <algorithm>
#include <filesystem>
#include <future>
#include <utility>

namespace recollect {
namespace {

/// The shards (PATH.rank-r.partial) that an interrupted run left.
std::vector<std::string> shards_of(const std::string &path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  const std::string begin = fs::path(path).filename().string() + ".rank-", end = ".partial";
  std::vector<std::string> found;
  std::error_code failure;
  for (const auto &entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > begin.size() + end.size() && name.compare(0, begin.size(), begin) == 0 &&
        name.compare(name.size() - end.size(), end.size(), end) == 0)
      found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool first_rank() { return ranks::rank() == 0; }

Results completed_by(const Results &start, const std::string &path) {
  Results found = Results::read(path);
  const std::string difference = found.differs_from(start);
  if (!difference.empty()) input_error("cannot resume " + path + ": " + difference);
  return found;
}

} // namespace

Recorder::Recorder(const std::string &path, Results start, bool resume, std::function<Clock::time_point()> now)
    : results_(std::move(start)), now_(std::move(now)) {
  if (!path.empty() && first_rank()) {
    output_.reset(new OutputFile(path));
    if (resume && output_->adopt())
      results_ = completed_by(results_, output_->partial());
    else if (resume && std::filesystem::exists(path)) {
      results_ = completed_by(results_, path);
      complete_ = true;
    }
    take_over_shards(path, resume);
  }
  before_ = Results::unpacked(ranks::shared(first_rank() ? results_.packed() : ""));
  if (!first_rank()) results_.leave_out_plan(); // only rank 0 writes the plan
  if (path.empty()) return;
  if (!first_rank()) output_.reset(new OutputFile(path + ".rank-" + std::to_string(ranks::rank())));
  if (!complete_) save(); // the other ranks need not wait for rank 0's file
}

/// PATH.partial gets the results of the shards before the shards are removed. If the process is killed in between, some
/// results are in both; the next call counts them once.
void Recorder::take_over_shards(const std::string &path, bool resume) {
  const std::vector<std::string> shards = shards_of(path);
  if (!resume && !shards.empty())
    input_error("cannot write " + path + ": " + shards[0] +
                " is left of an interrupted run: complete it with --resume, or remove it");
  std::vector<std::unique_ptr<OutputFile>> held;
  for (const std::string &shard : shards) {
    held.emplace_back(new OutputFile(shard.substr(0, shard.size() - std::string(".partial").size())));
    if (held.back()->adopt()) results_.absorb(completed_by(results_, shard));
  }
  if (!held.empty() && !complete_) save();
  for (const auto &shard : held) shard->abandon();
}

bool Recorder::due(double share) const {
  const auto passed = now_() - saved_;
  return passed > std::chrono::milliseconds(500) && share * passed > cost_;
}

void Recorder::during(const std::function<void()> &work) {
  if (waiting_.empty()) return work();
  std::promise<void> over;
  std::future<void> keeping = std::async([this, ended = over.get_future()] {
    while (!due())
      if (ended.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready) return;
    save();
  });
  try {
    work();
  } catch (...) {
    over.set_value();
    throw; // the destructor of `keeping` waits for the thread
  }
  over.set_value();
  keeping.get();
}

void Recorder::save() {
  if (output_) {
    const Clock::time_point start = now_();
    output_->checkpoint(results_.image());
    saved_ = now_();
    cost_ = saved_ - start;
  }
  report_all();
}

void Recorder::gather() {
  if (std::exchange(gathered_, true)) return;
  if (!first_rank()) save();
  const std::vector<std::string> parts = ranks::gathered(first_rank() ? "" : results_.packed());
  for (size_t from = 1; from < parts.size(); ++from) results_.absorb(Results::unpacked(parts[from]));
  results_.sort();
}

void Recorder::finish() {
  gather();
  if (first_rank()) {
    if (output_ && !complete_) output_->publish(results_.image());
    complete_ = true;
  }
  report_all();
  ranks::shared(""); // other ranks keep their shards until PATH exists
  if (output_ && !first_rank()) output_->abandon();
}

void Recorder::report_all() {
  for (const auto &report : waiting_) report();
  waiting_.clear();
}

} // namespace recollect
