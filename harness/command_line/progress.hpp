// SPDX-License-Identifier: Apache-2.0
// "[i/N] name, remaining time" on a terminal, a line a minute elsewhere; on standard error.
#pragma once
#include <chrono>
#include <string>

namespace recollect {

class Progress {
public:
  explicit Progress(size_t total, bool quiet = false);
  ~Progress() { done(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  /// Before each item.
  void next(const std::string &name);
  /// Takes the line off the terminal, for other output or for good.
  void done();

private:
  using Clock = std::chrono::steady_clock;
  size_t total_, begun_ = 0;
  bool quiet_, terminal_, shown_ = false;
  Clock::time_point start_ = Clock::now(), told_ = start_;
};

} // namespace recollect
