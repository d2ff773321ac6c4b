// SPDX-License-Identifier: Apache-2.0
// No command is silent for more than ten seconds: a thread says on standard error what the program is doing.
#pragma once
#include <chrono>
#include <string>

namespace recollect {

/// While this object lives, it prints a line on standard error whenever no other message came for the time `between`. A
/// process may have one such object.
class Heartbeat {
public:
  /// `doing` is the current task until now_doing() changes it, for instance "recollect explain".
  explicit Heartbeat(const std::string &doing, std::chrono::milliseconds between = std::chrono::seconds(10));
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;
};

/// Sets the current task. `said`: whether the user has just been told of it. `in_place`: whether the line about it is
/// on a terminal, where a heartbeat replaces it.
void now_doing(const std::string &what, bool said, bool in_place);
/// Stops the messages, for --quiet.
void stop_heartbeat();

/// A time in hours, minutes and seconds: "0:07", "12:05", "1:00:00".
std::string clock_text(double seconds);

} // namespace recollect
