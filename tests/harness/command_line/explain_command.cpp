// SPDX-License-Identifier: Apache-2.0
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cstdlib>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(explain_command)

bool says(const Outcome &o, const std::string &words) { return o.out.find(words) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_claim_is_measured_beside_its_rivals) {
  const Outcome o = run_program("explain snr-linear --seed 4");
  BOOST_TEST(o.status == 0, o.err);
  for (const char *part :
       {"holds_asymptotically, as expected", "shown by", "rivals, the nearest first", "d - 1 in place of d - 2",
        "recollect verify snr_linear --seed 4 --points", "@misc{recollect_snr_linear", "linear, relu_kernel"})
    BOOST_TEST(says(o, part), part);
  const Outcome said = run_program("explain snr_linear --no-measure");
  BOOST_TEST((said.status == 0 && !says(said, "rivals, the nearest") && says(said, "statement")));
}

BOOST_AUTO_TEST_CASE(a_layer_names_the_claims_that_run_it) {
  const Outcome o = run_program("explain gla");
  BOOST_TEST((says(o, "gated_linear") && says(o, "claims that run this layer") && says(o, "table2_gla")));
  BOOST_TEST(says(run_program("explain recall"), "accuracy (larger)"));
}

BOOST_AUTO_TEST_CASE(a_mistake_says_where_it_shows) {
  const Outcome o = run_program("explain initial-state-ignored");
  BOOST_TEST((o.status == 0 && says(o, "Where it shows: o and the state") && says(o, "vllm #22034")), o.out);
}

BOOST_AUTO_TEST_CASE(an_unknown_name_suggests_over_all_kinds) {
  const Outcome o = run_program("explain delta_nett");
  BOOST_TEST((o.status == 2 && o.err.find("did you mean 'delta_net'?") != std::string::npos), o.err);
}

BOOST_AUTO_TEST_CASE(a_citation_of_several_claims_lists_them) {
  for (const char *citation : {"'Proposition 2'", "'004 Prop 2'", "VLA Prop 2", "'arXiv:2605.11196 Proposition 2'"}) {
    const Outcome o = run_program(std::string("explain ") + citation);
    BOOST_TEST((o.status == 0 && says(o, "4 claims:") && says(o, "vla_prop2_eigenvalues: refuted (paper)")), o.out);
    BOOST_TEST(!says(o, "rivals"), citation); // nothing is measured
  }
}

BOOST_AUTO_TEST_CASE(a_citation_of_one_claim_explains_it) {
  const Outcome o = run_program("explain --no-measure 003 Eq 51");
  BOOST_TEST((o.status == 0 && says(o, "claim  ") && says(o, "Eq 51")), o.out + o.err);
}

BOOST_AUTO_TEST_CASE(a_paper_says_how_its_claims_came_out) {
  const Outcome o = run_program("explain 2605.11196");
  BOOST_TEST((says(o, "Variational Linear Attention") && says(o, "refuted (paper)") && says(o, "--paper 004")), o.out);
  const Outcome one = run_program("explain 2402.01032"); // a paper with one claim
  BOOST_TEST((says(one, "Repeat After Me") && says(one, "1 claim:") && says(one, "--paper 2402.01032")), one.out);
  const Outcome nobody = run_program("explain 1234.56789");
  BOOST_TEST((nobody.status == 2 && nobody.err.find("no claim cites '1234.56789'") != std::string::npos), nobody.err);
}

BOOST_AUTO_TEST_CASE(every_command_has_an_example_in_its_help) {
  for (const char *command : {"list", "plan", "run", "verify", "bench", "forward", "sample", "check", "report",
                              "explain", "diff", "merge", "info", "serve", "help"})
    BOOST_TEST(says(run_program(std::string(command) + " --help"), std::string("Example: recollect ") + command),
               command);
}

BOOST_AUTO_TEST_CASE(lists_fit_a_terminal_of_eighty_columns) {
  setenv("COLUMNS", "80", 1);
  const Outcome o = run_program("list variants");
  unsetenv("COLUMNS");
  size_t longest = 0, at = 0;
  for (size_t end; (end = o.out.find('\n', at)) != std::string::npos; at = end + 1)
    longest = std::max(longest, end - at);
  BOOST_TEST((longest > 60 && longest <= 84), longest); // a Greek letter has two bytes, and no line has more than four
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
