// SPDX-License-Identifier: Apache-2.0
// The exit code distinguishes a correct from a wrong candidate. tests/files/test_check.py tests the use of `check`.
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(check_command)

BOOST_AUTO_TEST_CASE(another_form_is_right_and_another_layer_is_not) {
  const Folder folder;
  const std::string in = " -i '" + (folder / "in.h5") + "'", out = " '" + (folder / "out.h5") + "'";
  BOOST_TEST(run_program("sample delta_net --shape 1,2,40,8,8 -o '" + (folder / "in.h5") + "'").status == 0);
  BOOST_TEST(run_program("forward delta_net --form chunked" + in + " -o" + out).status == 0);
  BOOST_TEST(run_program("check delta_net" + in + " --candidate" + out).status == 0);
  BOOST_TEST(run_program("check longhorn" + in + " --candidate" + out).status == 1);
  const Outcome other = run_program("check linear" + in + " --candidate" + out); // a layer that takes no beta
  BOOST_TEST(other.status == 3);
  BOOST_TEST(other.err.find("dataset beta is not an input of linear") != std::string::npos, other.err);
}

BOOST_AUTO_TEST_CASE(a_layer_checks_itself) {
  const Outcome o = run_program("check --self linear --quick");
  BOOST_TEST(o.status == 0, o.out);
  BOOST_TEST(o.out.find(" passed, 0 failed\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
