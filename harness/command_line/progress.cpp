// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/progress.hpp"
#include "harness/command_line/heartbeat.hpp"
#include "harness/command_line/table.hpp"
#include <iostream>
#include <unistd.h>

namespace recollect {

Progress::Progress(size_t total, bool quiet, std::function<Clock::time_point()> now)
    : total_(total), quiet_(quiet), terminal_(isatty(STDERR_FILENO)), now_(std::move(now)) {
  if (quiet) stop_heartbeat();
}

void Progress::next(const std::string &name, size_t items) {
  const size_t finished = items || begun_ == 0 ? begun_ : begun_ - 1;
  begun_ += items;
  const Clock::time_point now = now_();
  if (quiet_) return;
  const double passed = std::chrono::duration<double>(now - start_).count();
  std::string line = "[" + std::to_string(begun_) + "/" + std::to_string(total_) + "] ", left;
  if (finished && total_ > finished)
    left = ", " + clock_text(passed / double(finished) * double(total_ - finished)) + " remaining";
  const size_t room = terminal_width(STDERR_FILENO) - 1, taken = line.size() + left.size();
  line += name.substr(0, room > taken ? room - taken : 0) + left; // cut, because a wrapped line could not be erased
  const bool tell = terminal_ || now - told_ >= std::chrono::seconds(10);
  line_ = line;
  now_doing(line, tell, terminal_);
  if (!tell) return;
  told_ = now;
  std::cerr << (terminal_ ? "\r\033[K" : "") << line << (terminal_ ? "" : "\n") << std::flush;
  shown_ = terminal_;
}

void Progress::done() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
  now_doing(line_, false, false);
}

} // namespace recollect
