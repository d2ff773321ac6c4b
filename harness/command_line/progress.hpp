// SPDX-License-Identifier: Apache-2.0
// Shows progress on standard error, as "[i/N] name, remaining time". On a terminal the line is replaced in place.
// Elsewhere a new line comes every ten seconds, even during a long item (heartbeat.hpp).
#pragma once
#include <chrono>
#include <functional>
#include <string>

namespace recollect {

class Progress {
public:
  using Clock = std::chrono::steady_clock;
  explicit Progress(size_t total, bool quiet = false, std::function<Clock::time_point()> now = Clock::now);
  ~Progress() { done(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  /// Call before `items` items are processed. Call with 0 items to report another step of the current item.
  void next(const std::string &name, size_t items = 1);
  /// Erases the line from the terminal. Call before other output and at the end.
  void done();

private:
  size_t total_, begun_ = 0;
  bool quiet_, terminal_, shown_ = false;
  std::string line_;
  std::function<Clock::time_point()> now_;
  Clock::time_point start_ = now_(), told_ = start_;
};

} // namespace recollect
