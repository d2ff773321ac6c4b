// SPDX-License-Identifier: Apache-2.0
#include "harness/system/start.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <csignal>
#include <fstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(start)

/// OpenBLAS once asked for memory in an endless loop before main().
BOOST_AUTO_TEST_CASE(too_little_address_space_is_an_error_and_no_wait, *slow) {
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

/// Exit status of the program if allocation number `at` before main() fails. With at = 0 none fails, and `count`
/// becomes the number of allocations.
int status_without_memory(const Folder &folder, long at, long &count, std::string &said) {
  const std::string counted = folder / "count", complaint = folder / "complaint";
  const int status =
      std::system(("FAULT_START=1 FAULT_KIND=malloc FAULT_AT=" + std::to_string(at) + " FAULT_COUNT='" + counted +
                   "' LD_PRELOAD=\"$(dirname '" RECOLLECT_PROGRAM "')/libfaults.so\" '" RECOLLECT_PROGRAM
                   "' list tasks >/dev/null 2>'" +
                   complaint + "'")
                      .c_str());
  if (at == 0) std::ifstream(counted) >> count;
  said = read_file(complaint);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A claim's variable at namespace scope once ended the program by a signal. The last line must be ours; libraries may
/// print other lines before it.
BOOST_AUTO_TEST_CASE(no_memory_before_main_is_an_error) {
  const Folder folder;
  long count = 0;
  std::string said;
  BOOST_TEST(status_without_memory(folder, 0, count, said) == 0);
  BOOST_TEST_REQUIRE(count > 1000); // most of them are those of recollect's own variables
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const int status = status_without_memory(folder, 1 + i * count / 60, count, said);
    BOOST_TEST((status == 0 || status == 3), said);
    if (status == 0) continue; // some libraries continue without the memory
    ++refused;
    const std::string line = said.substr(said.rfind('\n', said.size() - 2) + 1);
    BOOST_TEST(line.rfind("recollect: the libraries do not start: too little memory", 0) == 0u, said);
  }
  BOOST_TEST(refused > 10);
}

BOOST_AUTO_TEST_CASE(a_program_that_started_is_not_stopped) {
  limit_start();
  started();
  BOOST_TEST((std::signal(SIGPROF, SIG_DFL) == SIG_DFL));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
