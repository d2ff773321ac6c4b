// SPDX-License-Identifier: Apache-2.0
// The scope of a refutation follows from the reading by one rule.
#include "harness/core/reading.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(reading)

Reading of(Wording wording, CounterExample example, Next does) {
  return {"where", "under what", "and then", wording, example, does, ""};
}

BOOST_AUTO_TEST_CASE(the_paper_is_refuted_only_by_what_it_asserts_within_its_conditions_and_does_not_limit) {
  const auto within = CounterExample::within, outside = CounterExample::outside;
  const auto leaves = Next::leaves, limits = Next::limits;
  BOOST_TEST((scope_of({}) == Scope::none));
  BOOST_TEST((scope_of(of(Wording::asserted, within, leaves)) == Scope::paper));
  BOOST_TEST((scope_of(of(Wording::asserted, outside, leaves)) == Scope::boundary));
  BOOST_TEST((scope_of(of(Wording::asserted, within, limits)) == Scope::boundary));
  BOOST_TEST((scope_of(of(Wording::asserted, outside, limits)) == Scope::boundary));
  for (CounterExample example : {within, outside})
    for (Next does : {leaves, limits}) {
      BOOST_TEST((scope_of(of(Wording::stricter, example, does)) == Scope::boundary));
      BOOST_TEST((scope_of(of(Wording::slip, example, does)) == Scope::typo));
      BOOST_TEST((scope_of(of(Wording::trained, example, does)) == Scope::untrained));
    }
}

BOOST_AUTO_TEST_CASE(each_kind_of_reading_has_its_scope) {
  BOOST_TEST((scope_of(asserted("a", "b", "c", "answer")) == Scope::paper));
  BOOST_TEST(asserted("a", "b", "c", "answer").answer == "answer");
  for (const Reading &r : {stricter("a", "b", "c"), outside("a", "b", "c"), limited("a", "b", "c")})
    BOOST_TEST((scope_of(r) == Scope::boundary && r.answer.empty()));
  BOOST_TEST((scope_of(slip("a", "b", "c")) == Scope::typo));
  BOOST_TEST((scope_of(of_trained("a", "b", "c")) == Scope::untrained));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
