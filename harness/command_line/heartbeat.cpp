// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/heartbeat.hpp"
#include "harness/command_line/table.hpp"
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace recollect {
namespace {

using Clock = std::chrono::steady_clock;

struct Beat {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  std::string what;
  Clock::time_point since, said;
  bool in_place = false, over = true;
};
Beat &beat() {
  static Beat &the_only_one = *new Beat; // never destroyed: a library may call exit() while the thread runs
  return the_only_one;
}

/// Past std::cerr, which the main thread may be using.
void say(const Beat &b, Clock::time_point now) {
  const std::string time = ", " + clock_text(std::chrono::duration<double>(now - b.since).count()) + " so far";
  const size_t room = terminal_width(STDERR_FILENO) - 1;
  const std::string text = b.what.substr(0, room > time.size() ? room - time.size() : 0) + time,
                    line = b.in_place ? "\r\033[K" + text : text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return; // nobody listens: the work goes on
}

void keep_talking(std::chrono::milliseconds between) {
  Beat &b = beat();
  std::unique_lock<std::mutex> lock(b.mutex);
  while (!b.over) {
    b.changed.wait_until(lock, b.said + between);
    const Clock::time_point now = Clock::now();
    if (b.over || now < b.said + between) continue;
    say(b, now);
    b.said = now;
  }
}

} // namespace

Heartbeat::Heartbeat(const std::string &doing, std::chrono::milliseconds between) {
  Beat &b = beat();
  b.over = false;
  now_doing(doing, true, false);
  try {
    b.thread = std::thread(keep_talking, between);
  } catch (const std::system_error &) { // no thread can be had: the command works, and is silent
  }
}

Heartbeat::~Heartbeat() {
  stop_heartbeat();
  if (beat().thread.joinable()) beat().thread.join();
}

void now_doing(const std::string &what, bool said, bool in_place) {
  Beat &b = beat();
  const std::lock_guard<std::mutex> lock(b.mutex);
  const Clock::time_point now = Clock::now();
  if (what != b.what) b.since = now;
  b.what = what, b.in_place = in_place;
  if (said) b.said = now;
}

void stop_heartbeat() {
  Beat &b = beat();
  {
    const std::lock_guard<std::mutex> lock(b.mutex);
    b.over = true;
  }
  b.changed.notify_all();
}

std::string clock_text(double seconds) {
  char text[32];
  const long whole = std::lround(seconds);
  if (whole < 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

} // namespace recollect
