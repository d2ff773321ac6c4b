// SPDX-License-Identifier: Apache-2.0
// tests/files/test_terminal.py looks at a terminal; here what a pipe gets.
#include "harness/command_line/progress.hpp"
#include "tests/testing.hpp"
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(a_pipe_gets_a_line_a_minute) {
  std::ostringstream said;
  const int standard_error = dup(STDERR_FILENO), no_terminal = open("/dev/null", O_WRONLY);
  dup2(no_terminal, STDERR_FILENO);
  std::streambuf *const before = std::cerr.rdbuf(said.rdbuf());
  {
    Progress::Clock::time_point now{};
    Progress progress(4, false, [&] { return now; }), quiet(1, true, [&] { return now; });
    progress.next("at once"), now += std::chrono::seconds(59), progress.next("too early");
    now += std::chrono::seconds(1), progress.next("a minute later"), quiet.next("quiet");
    progress.next("at once again");
  }
  std::cerr.rdbuf(before);
  dup2(standard_error, STDERR_FILENO);
  close(standard_error), close(no_terminal);
  BOOST_TEST(said.str() == "[3/4] a minute later, 1:00 remaining\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
