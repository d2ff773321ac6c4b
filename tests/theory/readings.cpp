// SPDX-License-Identifier: Apache-2.0
// Every refutation states how the paper was read, and its scope follows from that reading by the rule of
// harness/core/reading.hpp.
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(readings)

BOOST_AUTO_TEST_CASE(every_refutation_was_read_for_and_answered) {
  int refuted = 0;
  for (const Claim &c : all_claims()) {
    const Reading &r = c.reading;
    const bool read = !r.paragraph.empty() && !r.conditions.empty() && !r.next.empty();
    BOOST_TEST(read == (c.expected == Verdict::refuted), c.id << ": what was read goes with a refutation");
    BOOST_TEST((c.scope == scope_of(r)), c.id << ": its scope is not the one of what was read");
    BOOST_TEST(!r.answer.empty() == (c.scope == Scope::paper),
               c.id << ": what the authors could answer, for scope paper");
    BOOST_TEST(c.condition.empty() == (c.expected != Verdict::holds_under), c.id << ": the condition of holds_under");
    refuted += c.expected == Verdict::refuted;
  }
  BOOST_TEST_MESSAGE(refuted << " refutations");
  BOOST_TEST(refuted > 100);
}

BOOST_AUTO_TEST_CASE(nothing_is_refuted_that_was_not_read_in_the_paper_itself) {
  for (const Claim &c : all_claims())
    if (c.source.find("secondary source") != std::string::npos)
      BOOST_TEST((c.expected != Verdict::refuted), c.id << " is refuted from a secondary source");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
