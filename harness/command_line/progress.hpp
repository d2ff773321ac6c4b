// SPDX-License-Identifier: Apache-2.0
// Progress on standard error: "[i/N] name, remaining time" on a terminal; elsewhere a line every ten seconds, also
// during a long item (heartbeat.hpp).
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
  /// Call before `items` items are processed. With 0 items, it is another step of the current item.
  void next(const std::string &name, size_t items = 1);
  /// Erases the line from the terminal, for other output or at the end.
  void done();

private:
  size_t total_, begun_ = 0;
  bool quiet_, terminal_, shown_ = false;
  std::string line_;
  std::function<Clock::time_point()> now_;
  Clock::time_point start_ = now_(), told_ = start_;
};

} // namespace recollect
