// SPDX-License-Identifier: Apache-2.0
// How the command starts the report. tests/reports reads the pages.
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(report_command)

BOOST_AUTO_TEST_CASE(a_results_file_becomes_a_page, *slow) {
  const Folder folder;
  const std::string r = "'" + (folder / "r.h5") + "'", page = folder / "page";
  BOOST_TEST_REQUIRE(run_program("verify chunk-equals-recurrent -o " + r).status == 0);
  const Outcome o = run_program("report " + r + " -o '" + page + "'");
  BOOST_TEST(o.status == 0, o.err);
  for (const char *path : {"/ledger.html", "/claims/chunk_equals_recurrent.html"})
    BOOST_TEST(read_file(page + path).find("chunk_equals_recurrent") != std::string::npos, path);
}

BOOST_AUTO_TEST_CASE(what_is_no_results_file_is_refused_in_one_line) {
  const Folder folder;
  const Outcome o = run_program("report '" + (folder / ".") + "' -o '" + (folder / "page") + "'");
  BOOST_TEST(o.status == 3);
  BOOST_TEST(std::count(o.err.begin(), o.err.end(), '\n') == 1);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
