// SPDX-License-Identifier: Apache-2.0
#include "harness/core/claim.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(claim)

/// The names of the first `count` values.
template <class Enum> std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(name_of(static_cast<Enum>(i)));
  return all;
}

BOOST_AUTO_TEST_CASE(names_as_files_and_people_read_them) {
  using Names = std::vector<std::string>;
  BOOST_TEST((names<Verdict>(6) ==
              Names{"holds", "holds_asymptotically", "refuted", "not_tested", "inconclusive", "holds_under"}));
  BOOST_TEST((names<Scope>(5) == Names{"", "paper", "boundary", "typo", "untrained"}));
  BOOST_TEST((names<Reason>(5) == Names{"", "under_specified", "not_numeric", "needs_training", "needs_gpu"}));
  BOOST_TEST((names<Role>(5) == Names{"statement", "limit", "obligation", "rival", "condition"}));
  BOOST_TEST((names<RivalKind>(3) == Names{"", "law", "system"}));
  BOOST_TEST((names<Point::Relation>(3) == Names{"equal", "at_most", "at_least"}));
}

BOOST_AUTO_TEST_CASE(what_a_claim_says_of_itself) {
  Claim c;
  BOOST_TEST(qualifier(c) == "");
  BOOST_TEST(std::string(system_of(c)) == "algebra");
  c.scope = Scope::boundary, c.variants = {"linear"};
  BOOST_TEST(qualifier(c) == "boundary");
  BOOST_TEST(std::string(system_of(c)) == "layer");
  c.scope = Scope::none, c.reason = Reason::needs_training;
  BOOST_TEST(qualifier(c) == "needs_training");
  c.reason = Reason::none, c.expected = Verdict::holds_under, c.condition = "the keys are of unit length";
  BOOST_TEST(qualified(c.expected, c) == "holds_under (the keys are of unit length)");
  BOOST_TEST(qualified(Verdict::refuted, c) == "refuted");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
