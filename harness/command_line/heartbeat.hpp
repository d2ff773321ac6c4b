// SPDX-License-Identifier: Apache-2.0
// No command is silent for more than ten seconds: a thread says on standard error what the program is doing.
#pragma once
#include <chrono>
#include <string>

namespace recollect {

/// While it lives, a line on standard error for every `between` in which nothing else was said. One per process.
class Heartbeat {
public:
  /// `doing`: what the program does until it says otherwise, such as "recollect explain".
  explicit Heartbeat(const std::string &doing, std::chrono::milliseconds between = std::chrono::seconds(10));
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;
};

/// What the program does now. `said`: the user was just told. `in_place`: the line stands on a terminal and is replaced.
void now_doing(const std::string &what, bool said, bool in_place);
/// For --quiet: nothing is said from here on.
void stop_heartbeat();

/// "0:07", "12:05", "1:00:00"
std::string clock_text(double seconds);

} // namespace recollect
