// SPDX-License-Identifier: Apache-2.0
// No command is silent for more than ten seconds: a thread says on standard error what the program is doing.
#pragma once
#include <chrono>
#include <string>

namespace recollect {

/// While this object lives, prints a line on standard error after every `between` without other messages. One per
/// process.
class Heartbeat {
public:
  /// `doing`: the current task until now_doing() changes it, e.g. "recollect explain".
  explicit Heartbeat(const std::string &doing, std::chrono::milliseconds between = std::chrono::seconds(10));
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;
};

/// Sets the current task. `said`: the user was just told. `in_place`: the line is on a terminal and will be replaced.
void now_doing(const std::string &what, bool said, bool in_place);
/// For --quiet: no further messages.
void stop_heartbeat();

/// "0:07", "12:05", "1:00:00"
std::string clock_text(double seconds);

} // namespace recollect
