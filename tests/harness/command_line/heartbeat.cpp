// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/heartbeat.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <fcntl.h>
#include <functional>
#include <thread>
#include <unistd.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(heartbeat)

using namespace std::chrono_literals;

/// Everything written to standard error during `work`.
std::string said_while(const std::function<void()> &work) {
  const Folder folder;
  const int standard_error = dup(STDERR_FILENO),
            file = open((folder / "said").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDERR_FILENO);
  work();
  dup2(standard_error, STDERR_FILENO);
  close(standard_error), close(file);
  return read_file(folder / "said");
}
size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

BOOST_AUTO_TEST_CASE(long_work_is_told_again_and_again_with_its_time) {
  const std::string said = said_while([] {
    const Heartbeat one("recollect explain", 20ms);
    std::this_thread::sleep_for(300ms);
  });
  BOOST_TEST(count(said, "recollect explain, 0:00 so far\n") >= 3u, said);
}

BOOST_AUTO_TEST_CASE(short_work_and_quiet_work_are_silent) {
  BOOST_TEST(
      said_while([] { const Heartbeat one("short", 1h); }).empty()); // and its destructor does not wait for an hour
  const std::string quiet = said_while([] {
    const Heartbeat one("quiet", 20ms);
    stop_heartbeat();
    std::this_thread::sleep_for(100ms);
  });
  BOOST_TEST(quiet.empty(), quiet);
}

BOOST_AUTO_TEST_CASE(the_newest_item_is_told) {
  const std::string said = said_while([] {
    const Heartbeat one("recollect verify", 50ms);
    for (int i = 0; i < 100; ++i) { // others print meanwhile, so the heartbeat stays silent
      now_doing("[1/2] first", true, false);
      std::this_thread::sleep_for(1ms);
    }
    now_doing("[2/2] second", false, false);
    std::this_thread::sleep_for(300ms);
  });
  BOOST_TEST((count(said, "first") <= 1u && count(said, "[2/2] second, 0:00 so far\n") >= 2u), said);
}

BOOST_AUTO_TEST_CASE(times_are_told_in_minutes_and_hours) {
  BOOST_TEST(clock_text(7.4) == "0:07");
  BOOST_TEST(clock_text(725) == "12:05");
  BOOST_TEST(clock_text(3600) == "1:00:00");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
