// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/progress.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(progress)

/// `script` as util-linux has it gives the program a terminal.
std::string on_a_terminal(const std::string &arguments) {
  const Folder folder;
  const std::string command = "script -qec \"'" RECOLLECT_PROGRAM "' " + arguments + "\" '" + (folder / "typed") + "'";
  const int status = std::system((command + " >/dev/null 2>&1 </dev/null").c_str());
  BOOST_TEST(status == 0, command);
  return read_file(folder / "typed");
}

BOOST_AUTO_TEST_CASE(a_terminal_shows_what_runs_and_what_remains) {
  const std::string text = on_a_terminal("bench --variants linear,softmax --shape 1,1,64,8,8 --min-time 0");
  BOOST_TEST(text.find("[1/2] linear/") != std::string::npos);
  BOOST_TEST(text.find("[2/2] softmax/") != std::string::npos);
  BOOST_TEST(text.find(" remaining") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_pipe_stays_quiet_for_a_minute) {
  const Outcome o = run_program("bench --variants linear --shape 1,1,64,8,8 --min-time 0");
  BOOST_TEST((o.status == 0 && o.err.empty()));
}

BOOST_AUTO_TEST_CASE(a_pipe_gets_a_line_each_time_that_is_over) {
  std::ostringstream said;
  const int standard_error = dup(STDERR_FILENO), no_terminal = open("/dev/null", O_WRONLY);
  dup2(no_terminal, STDERR_FILENO);
  std::streambuf *const before = std::cerr.rdbuf(said.rdbuf());
  {
    Progress progress(3, false, std::chrono::milliseconds(20)), quiet(1, true, std::chrono::seconds(0));
    progress.next("at once"), quiet.next("quiet");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    progress.next("later"), progress.next("at once again");
  }
  std::cerr.rdbuf(before);
  dup2(standard_error, STDERR_FILENO);
  close(standard_error), close(no_terminal);
  BOOST_TEST(said.str() == "[2/3] later, 0:00 remaining\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
