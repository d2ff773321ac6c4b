// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_explanations)

std::string explained(const Finding *finding) {
  Claim c;
  c.id = "x", c.source = "000 Eq 1", c.statement = "it is two", c.exact = "it is one", c.explanation = "because";
  c.reading = asserted("says so in §2", "none", "leaves it", "we meant one");
  c.expected = Verdict::refuted, c.scope = Scope::boundary, c.covers = {"row-a", "row-b"};
  std::ostringstream out;
  explain(out, c, finding,
          {{"seed", "7"}, {"version", "9"}, {"git_commit", "0123456789abcdef"}, {"start_utc", "2026"}});
  return out.str();
}
bool says(const std::string &text, const std::string &words) { return text.find(words) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_refuted_claim_says_what_holds_instead) {
  const std::string text = explained(nullptr);
  for (const char *part : {"it is two", "refuted (boundary)", "instead     it is one", "because", "none: algebra",
                           "row-a, row-b", "read        says so in §2", "conditions  none", "then        leaves it",
                           "The authors could answer: we meant one", "recollect verify x --seed 7 --points",
                           "commit 0123456789ab,", "year = {2026}"})
    BOOST_TEST(says(text, part), part << " in\n" << text);
}

BOOST_AUTO_TEST_CASE(a_finding_that_failed_says_so) {
  Finding finding;
  finding.verdict = Verdict::holds, finding.passed = false;
  finding.points = {rival_law(exact_point(1, 1, 4), "$n$ for $n - 1$", 2)};
  const std::string text = explained(&finding);
  BOOST_TEST(says(text, "holds, FAILED"));
  BOOST_TEST(says(text, "n for n - 1  law"), text);
}

BOOST_AUTO_TEST_CASE(a_layer_lists_the_claims_that_run_it) {
  std::ostringstream out;
  explain_claims(out, find_variant("delta_net"));
  size_t listed = 0;
  for (const Claim &c : all_claims())
    if (std::find(c.variants.begin(), c.variants.end(), "delta_net") != c.variants.end())
      listed += says(out.str(), "  " + c.id);
  BOOST_TEST(listed > 5u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
