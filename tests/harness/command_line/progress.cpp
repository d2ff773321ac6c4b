// SPDX-License-Identifier: Apache-2.0
// Output to a pipe. tests/files/test_terminal.py tests a terminal.
#include "harness/command_line/progress.hpp"
#include "tests/testing.hpp"
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(progress)

using Seconds = std::chrono::seconds;

/// What `tell` writes if standard error is not a terminal.
std::string said_by(const std::function<void(Progress::Clock::time_point &now)> &tell) {
  std::ostringstream said;
  const int standard_error = dup(STDERR_FILENO), no_terminal = open("/dev/null", O_WRONLY);
  dup2(no_terminal, STDERR_FILENO);
  std::streambuf *const before = std::cerr.rdbuf(said.rdbuf());
  Progress::Clock::time_point now{};
  tell(now);
  std::cerr.rdbuf(before);
  dup2(standard_error, STDERR_FILENO);
  close(standard_error), close(no_terminal);
  return said.str();
}

BOOST_AUTO_TEST_CASE(a_pipe_gets_a_line_every_ten_seconds) {
  const std::string said = said_by([](auto &now) {
    Progress progress(4, false, [&] { return now; }), quiet(1, true, [&] { return now; });
    progress.next("at once"), now += Seconds(9), progress.next("too early");
    now += Seconds(1), progress.next("ten seconds later"), quiet.next("quiet");
    progress.next("at once again");
  });
  BOOST_TEST(said == "[3/4] ten seconds later, 0:10 remaining\n");
}

BOOST_AUTO_TEST_CASE(steps_of_an_item_are_told_too) {
  const std::string said = said_by([](auto &now) {
    Progress progress(4, false, [&] { return now; });
    progress.next("one"), now += Seconds(10), progress.next("one: verifying", 0);
    now += Seconds(2), progress.next("one: timing", 0);
    now += Seconds(8), progress.next("two");
  });
  BOOST_TEST(said == "[1/4] one: verifying\n[2/4] two, 1:00 remaining\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
