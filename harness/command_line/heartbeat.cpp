// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/heartbeat.hpp"
#include "harness/command_line/table.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace recollect {
namespace {

constexpr int ticks = 5; // number of ticks in the time `between` two lines; 4 to 5 ticks of silence precede a line

struct Beat {
  std::mutex mutex;
  std::thread thread;
  std::string what;
  int quiet = 0, doing = 0; // quiet: ticks since the last message; doing: ticks since the current task began
  bool in_place = false, over = true;
  int stop = -1; // file descriptor that becomes readable when the thread must end
};
Beat &beat() {
  static Beat &the_only_one = *new Beat; // never destroyed, because a library may call exit() while the thread runs
  return the_only_one;
}

/// Writes directly to the descriptor, because the main thread may be using std::cerr.
void say(const Beat &b, std::chrono::milliseconds tick) {
  const std::string time = ", " + clock_text(double(b.doing) * double(tick.count()) / 1e3) + " so far";
  const size_t room = terminal_width(STDERR_FILENO) - 1;
  const std::string text = b.what.substr(0, room > time.size() ? room - time.size() : 0) + time,
                    line = b.in_place ? "\r\033[K" + text : text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return; // nobody reads the line; the work continues
}

/// The thread's work: prints a line after every `between` of silence. Measures time by counting timeouts of poll(),
/// because a clock may jump.
void keep_talking(std::chrono::milliseconds between) {
  Beat &b = beat();
  const std::chrono::milliseconds tick = std::max(between / ticks, std::chrono::milliseconds(1));
  for (;;) {
    pollfd end{b.stop, POLLIN, 0};
    const int woken = ::poll(&end, 1, int(tick.count()));
    const std::lock_guard<std::mutex> lock(b.mutex);
    if (b.over) return;
    if (woken != 0) continue; // a signal interrupted poll()
    ++b.doing;
    if (++b.quiet < ticks) continue;
    say(b, tick);
    b.quiet = 0;
  }
}

} // namespace

Heartbeat::Heartbeat(const std::string &doing, std::chrono::milliseconds between) {
  Beat &b = beat();
  b.over = false;
  now_doing(doing, true, false);
  b.stop = ::eventfd(0, EFD_CLOEXEC);
  if (b.stop < 0) return; // without a descriptor or a thread the command works silently
  try {
    b.thread = std::thread(keep_talking, between);
  } catch (const std::system_error &) {
  }
}

Heartbeat::~Heartbeat() {
  stop_heartbeat();
  Beat &b = beat();
  if (b.thread.joinable()) b.thread.join();
  if (b.stop >= 0) ::close(std::exchange(b.stop, -1));
}

void now_doing(const std::string &what, bool said, bool in_place) {
  Beat &b = beat();
  const std::lock_guard<std::mutex> lock(b.mutex);
  if (what != b.what) b.doing = 0;
  b.what = what, b.in_place = in_place;
  if (said) b.quiet = 0;
}

void stop_heartbeat() {
  Beat &b = beat();
  {
    const std::lock_guard<std::mutex> lock(b.mutex);
    b.over = true;
  }
  if (b.stop >= 0) ::eventfd_write(b.stop, 1);
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
