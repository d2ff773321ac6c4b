// SPDX-License-Identifier: Apache-2.0
#include "harness/core/claim_version.hpp"
#include "harness/core/text.hpp"
#include "tests/testing.hpp"
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(claim_version)

BOOST_AUTO_TEST_CASE(every_claim_has_the_version_of_its_statement_and_verdict) {
  std::set<std::string> names;
  for (const Claim &c : all_claims()) {
    names.insert(name_in_paper(c));
    BOOST_TEST(version_of(c) > 0, name_in_paper(c) << " is new, or its statement or verdict changed: run ci/derive.sh, "
                                                   << "and build again");
  }
  for (const ClaimVersions &row : claim_versions())
    BOOST_TEST((names.count(row.name) || split(row.digests, ' ').back() == "withdrawn"),
               row.name << " is a claim no more: run ci/derive.sh, and build again");
}

BOOST_AUTO_TEST_CASE(statement_verdict_and_scope_move_the_digest_and_nothing_else_does) {
  Claim c;
  c.id = "x", c.source = "000 Eq 7", c.statement = "a", c.expected = Verdict::refuted, c.scope = Scope::paper;
  const std::string before = digest_of(c);
  BOOST_TEST(before.size() == 16u);
  Claim other = c;
  other.explanation = "why", other.exact = "b", other.variants = {"linear"};
  BOOST_TEST(digest_of(other) == before);
  other.statement = "$a$"; // a formula that is marked
  BOOST_TEST(digest_of(other) == before);
  other = c, other.statement = "b";
  BOOST_TEST(digest_of(other) != before);
  other = c, other.scope = Scope::boundary;
  BOOST_TEST(digest_of(other) != before);
  other = c, other.expected = Verdict::holds, other.scope = Scope::none;
  BOOST_TEST(digest_of(other) != before);
}

BOOST_AUTO_TEST_CASE(an_address_without_a_row_has_no_version) {
  Claim c;
  c.id = "x", c.source = "000 Eq 7";
  BOOST_TEST((version_of(c) == 0 && address_of(c) == "000/x"));
  Claim changed = find_claim("snr_exp");
  BOOST_TEST(address_of(changed).rfind("000/snr_exp@", 0) == 0u);
  changed.statement += "!";
  BOOST_TEST(address_of(changed) == "000/snr_exp");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
