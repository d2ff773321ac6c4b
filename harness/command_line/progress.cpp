// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/progress.hpp"
#include "harness/command_line/table.hpp"
#include <cmath>
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace recollect {
namespace {

std::string clock_text(double seconds) {
  char text[32];
  const long whole = std::lround(seconds);
  if (whole < 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

} // namespace

Progress::Progress(size_t total, bool quiet, std::function<Clock::time_point()> now)
    : Progress(total, quiet, std::chrono::minutes(1), std::move(now)) {}
Progress::Progress(size_t total, bool quiet, Clock::duration between, std::function<Clock::time_point()> now)
    : total_(total), quiet_(quiet), terminal_(isatty(STDERR_FILENO)), between_(between), now_(std::move(now)) {}

void Progress::next(const std::string &name, size_t items) {
  const size_t finished = items || begun_ == 0 ? begun_ : begun_ - 1;
  begun_ += items;
  const Clock::time_point now = now_();
  if (quiet_ || (!terminal_ && now - told_ < between_)) return;
  told_ = now;
  const double passed = std::chrono::duration<double>(now - start_).count();
  std::string line = "[" + std::to_string(begun_) + "/" + std::to_string(total_) + "] ", left;
  if (finished && total_ > finished)
    left = ", " + clock_text(passed / double(finished) * double(total_ - finished)) + " remaining";
  const size_t room = terminal_width(STDERR_FILENO) - 1, taken = line.size() + left.size();
  line += name.substr(0, room > taken ? room - taken : 0) + left; // a second line would stay on the terminal
  std::cerr << (terminal_ ? "\r\033[K" : "") << line << (terminal_ ? "" : "\n") << std::flush;
  shown_ = terminal_;
}

void Progress::done() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

} // namespace recollect
