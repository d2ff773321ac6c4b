// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"
#include "testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(verdict)

Point tiered(Point p, const char *tier) { return at(std::move(p), tier, {}); }
const Point good = exact_point(1, 1, 10, 0.1), bad = exact_point(1, 2, 10, 0.1);

BOOST_AUTO_TEST_CASE(points) {
  BOOST_TEST((good.verdict == Verdict::holds));
  BOOST_TEST((bad.verdict == Verdict::refuted));
  BOOST_TEST((exact_point(1 + 9e-16, 1, 10, 0.1).verdict == Verdict::holds)); // within 10 units of round-off
  BOOST_TEST((exact_point(1 + 3e-15, 1, 10, 0.1).verdict == Verdict::refuted));
  BOOST_TEST((exact_point(NAN, 1, 10, 0.1).verdict == Verdict::refuted));
  BOOST_TEST((sampled_point(1, 1.05, 0.01, 0.2).verdict == Verdict::holds));     // 5 standard errors off
  BOOST_TEST((sampled_point(1, 1.07, 0.01, 0.2).verdict == Verdict::refuted));   // 7
  BOOST_TEST((sampled_point(1, 1, 0.01, 0.1).verdict == Verdict::inconclusive)); // cannot see its resolution
  BOOST_TEST((sampled_point(1, 1, INFINITY, 0.1).verdict == Verdict::inconclusive));
  BOOST_TEST((bounded_point(0.9, Point::at_most, 1, 0, 0.1).verdict == Verdict::holds));
  BOOST_TEST((bounded_point(1.1, Point::at_most, 1, 0, 0.1).verdict == Verdict::refuted));
  BOOST_TEST((bounded_point(1.1, Point::at_least, 1, 0, 0.1).verdict == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(a_claim_is_decided_by_its_paper_points) {
  BOOST_TEST((verdict_of({}) == Verdict::inconclusive));
  BOOST_TEST((verdict_of({good}) == Verdict::holds));
  BOOST_TEST((verdict_of({good, bad}) == Verdict::refuted));
  BOOST_TEST((verdict_of({tiered(good, "paper"), bad}) ==
              Verdict::holds)); // the obligation fails, but obligations_hold says so
  BOOST_TEST((verdict_of({tiered(bad, "paper"), good}) == Verdict::refuted));
  BOOST_TEST((verdict_of({tiered(bad, "paper"), tiered(good, "limit")}) == Verdict::holds_asymptotically));
  BOOST_TEST((verdict_of({tiered(bad, "paper"), tiered(bad, "limit")}) == Verdict::refuted));
  BOOST_TEST((verdict_of({good, sampled_point(1, 1, 0.01, 0.1)}) == Verdict::inconclusive));
  BOOST_TEST(!obligations_hold({tiered(good, "paper"), bad}));
  BOOST_TEST(obligations_hold({tiered(bad, "paper"), good}));
}

BOOST_AUTO_TEST_CASE(the_default_control_shifts_every_obligation) {
  const std::vector<Point> points{good, tiered(bad, "paper"), bounded_point(0.5, Point::at_most, 1, 0.01, 0.1)};
  const std::vector<Point> control = shifted(points);
  BOOST_TEST(control.size() == 2u);
  for (const Point &p : control) BOOST_TEST((p.verdict == Verdict::refuted));
  // a resolution below the tolerance cannot be refuted: the control gives the claim away
  BOOST_TEST((shifted({exact_point(1, 1, 1e10, 1e-9)})[0].verdict == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(a_claim_passes_only_with_a_control_that_fails) {
  Claim claim;
  claim.measure = [](const Protocol &) { return std::vector<Point>{good}; };
  BOOST_TEST(examine(claim, {}).passed);
  claim.control = [](const Protocol &) { return std::vector<Point>{bad, good}; };
  BOOST_TEST(!examine(claim, {}).passed);
  claim.control = [](const Protocol &) { return std::vector<Point>{}; };
  BOOST_TEST(!examine(claim, {}).passed);
  claim.control = nullptr;
  claim.expected = Verdict::refuted;
  BOOST_TEST(!examine(claim, {}).passed);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
