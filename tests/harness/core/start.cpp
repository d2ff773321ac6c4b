// SPDX-License-Identifier: Apache-2.0
#include "harness/core/start.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <csignal>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(start)

/// OpenBLAS asked for memory for ever, in a loop before main(), with nobody to stop it.
BOOST_AUTO_TEST_CASE(too_little_address_space_is_an_error_and_no_wait) {
  const Folder folder;
  const std::string said = folder / "said";
  const int status = std::system(
      ("ulimit -v 150000; OMP_NUM_THREADS=4 timeout 600 '" RECOLLECT_PROGRAM "' list tasks >/dev/null 2>'" + said + "'")
          .c_str());
  BOOST_TEST(WEXITSTATUS(status) == 3);
  const std::string text = read_file(said);
  BOOST_TEST(text.rfind("recollect: ", 0) == 0u, text);
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1, text);
}

BOOST_AUTO_TEST_CASE(a_program_that_started_is_not_stopped) {
  limit_start();
  started();
  BOOST_TEST((std::signal(SIGPROF, SIG_DFL) == SIG_DFL));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
