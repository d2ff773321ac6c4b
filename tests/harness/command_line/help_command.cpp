// SPDX-License-Identifier: Apache-2.0
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(help_command)

BOOST_AUTO_TEST_CASE(help_is_a_command) {
  const Outcome all = run_program("help"), one = run_program("help run"), none = run_program("help rnu");
  const auto says = [](const Outcome &o, const char *words) { return o.out.find(words) != std::string::npos; };
  BOOST_TEST((all.status == 0 && says(all, "Subcommands:") && says(all, "  verify ")), all.out);
  BOOST_TEST((one.status == 0 && says(one, "Usage: recollect run") && says(one, "--seeds")), one.out);
  BOOST_TEST((none.status == 2 && none.err == "recollect: unknown command 'rnu', did you mean 'run'?\n"), none.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
