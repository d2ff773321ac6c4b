// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/verdict.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(verdict)

const Point good = exact_point(1, 1, 10), bad = exact_point(1, 2, 10);
const Point refuted_rival = rival_law(good, "2 for 1", 2), standing_rival = rival_law(good, "1 once more", 1);

BOOST_AUTO_TEST_CASE(points) {
  BOOST_TEST((good.verdict == Verdict::holds));
  BOOST_TEST((bad.verdict == Verdict::refuted));
  BOOST_TEST((exact_point(1 + 9e-16, 1, 10).verdict == Verdict::holds)); // within 10 units of round-off
  BOOST_TEST((exact_point(1 + 3e-15, 1, 10).verdict == Verdict::refuted));
  BOOST_TEST((exact_point(NAN, 1, 10).verdict == Verdict::refuted));
  BOOST_TEST((sampled_point({1, 0.01}, 1.05).verdict == Verdict::holds));   // 5 standard errors off
  BOOST_TEST((sampled_point({1, 0.01}, 1.07).verdict == Verdict::refuted)); // 7 standard errors off
  BOOST_TEST((sampled_point({1, INFINITY}, 1).verdict == Verdict::inconclusive));
  BOOST_TEST((sampled_point({1, NAN}, 1).verdict == Verdict::inconclusive));
  BOOST_TEST((at_most_point(0.9, 1, 0).verdict == Verdict::holds));
  BOOST_TEST((at_most_point(1.1, 1, 0).verdict == Verdict::refuted));
  BOOST_TEST((at_most_point(Mean{1.05, 0.01}, 1).verdict == Verdict::holds)); // within its sampling error
  BOOST_TEST((at_least_point(1.1, 1, 0).verdict == Verdict::holds));
  BOOST_TEST((at_least_point(NAN, 1, 0).verdict == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(arrays_show_the_element_that_decides) {
  const Point apart = exact_point(std::vector<double>{1, 2, 9}, {1, 2.5, 9}, 10);
  BOOST_TEST((apart.verdict == Verdict::refuted && apart.measured == 2 && apart.predicted == 2.5));
  const Point together =
      exact_point(std::vector<double>{1, -3, 2}, {1, -3, 2}, 10); // the largest element; a zero would show nothing
  BOOST_TEST((together.verdict == Verdict::holds && together.predicted == -3));
  BOOST_TEST((exact_point(std::vector<double>{1, NAN}, {1, 2}, 10).verdict == Verdict::refuted));
  BOOST_TEST((exact_point(std::vector<double>{}, {}, 10).verdict == Verdict::refuted));
  BOOST_TEST((exact_point(std::vector<double>{1}, {1, 2}, 10).verdict == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(sensitivity_is_the_error_that_would_be_seen) {
  BOOST_TEST(std::fabs(sensitivity(sampled_point({2, 0.01}, 2)) - (6.47 + 1.645) * 0.005) < 1e-12);
  BOOST_TEST(std::fabs(sensitivity(at_most_point(0.9, 1.2, 0)) - 0.75) < 1e-12);
  BOOST_TEST(std::fabs(sensitivity(at_least_point(4, 3, 0)) - 0.75) < 1e-12);
}

BOOST_AUTO_TEST_CASE(a_claim_is_decided_by_its_statement) {
  const auto with_rival = [](std::vector<Point> points) {
    points.push_back(refuted_rival);
    return verdict_of(points);
  };
  const Point said = as_statement(good, {}), said_wrongly = as_statement(bad, {});
  BOOST_TEST((with_rival({}) == Verdict::inconclusive));
  BOOST_TEST((with_rival({good}) == Verdict::holds));
  BOOST_TEST((with_rival({good, bad}) == Verdict::refuted));
  BOOST_TEST(
      (with_rival({said, bad}) == Verdict::holds)); // the obligation fails the claim, but the statement's verdict stays
  BOOST_TEST((with_rival({said_wrongly, good}) == Verdict::refuted));
  BOOST_TEST((with_rival({said_wrongly, as_limit(good, {})}) == Verdict::holds_asymptotically));
  BOOST_TEST((with_rival({said_wrongly, as_limit(bad, {})}) == Verdict::refuted));
  const Point if_so = as_condition(good, {});
  BOOST_TEST((with_rival({said_wrongly, if_so}) == Verdict::holds_under));
  BOOST_TEST((with_rival({said_wrongly, as_limit(good, {}), if_so}) == Verdict::holds_under));
  BOOST_TEST((with_rival({said_wrongly, as_limit(bad, {}), if_so}) == Verdict::refuted));
  BOOST_TEST((with_rival({said_wrongly, as_condition(bad, {})}) == Verdict::refuted));
  BOOST_TEST((with_rival({said, as_condition(bad, {})}) == Verdict::holds)); // the claim fails because of this point
  BOOST_TEST((with_rival({as_condition(bad, {})}) == Verdict::refuted));     // no statement: the condition decides
  BOOST_TEST((with_rival({good, sampled_point({1, INFINITY}, 1)}) == Verdict::inconclusive));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_told_from_a_rival_is_not_shown) {
  BOOST_TEST((verdict_of({good}) == Verdict::inconclusive)); // no rival at all
  BOOST_TEST((verdict_of({good, refuted_rival, standing_rival}) == Verdict::inconclusive));
  const Point broken = rival_system(exact_point(NAN, 1, 10), {}, "a system that did not run");
  BOOST_TEST((broken.verdict == Verdict::inconclusive)); // NaN refutes nothing
  BOOST_TEST((verdict_of({good, broken}) == Verdict::inconclusive));
}

BOOST_AUTO_TEST_CASE(a_claim_passes_when_all_of_it_comes_out_as_expected) {
  Claim claim;
  const auto passes = [&](std::vector<Point> points) { return conclude(claim, points).passed; };
  BOOST_TEST(passes({good, refuted_rival}));
  BOOST_TEST(!passes({good}));
  BOOST_TEST(!passes({as_statement(good, {}), bad, refuted_rival})); // it holds as stated, but its obligation fails
  claim.expected = Verdict::refuted;
  BOOST_TEST(!passes({good, refuted_rival}));
  BOOST_TEST(passes({as_statement(bad, {}), good, refuted_rival}));
  claim.expected = Verdict::not_tested, claim.reason = Reason::needs_training;
  const Finding untested = examine(claim, {});
  BOOST_TEST((untested.verdict == Verdict::not_tested && !untested.passed && !untested.tested()));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
