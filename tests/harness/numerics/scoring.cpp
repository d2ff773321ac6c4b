// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/scoring.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {
// Two heads, two steps, Dv = 2, candidates (1,0) and (0,1); head 0 is asked at both steps, head 1 at the second only.
Problem two_heads() {
  Problem p;
  p.sequence.shape = {2, 1, 2, 1, 2};
  p.scored = {1, 1};
  p.candidates = {1, 0, 0, 1, 1, 0, 0, 1};
  p.answer = {0, 1, -1, 0};
  p.target = {1, 0, 0, 1, 0, 0, 1, 0};
  return p;
}
} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(scoring)

BOOST_AUTO_TEST_CASE(by_hand) {
  // Reads: (3,4) against (1,0): error 4 + 16, cosine 3/5, wrong; (0,2) against (0,1): error 1, cosine 1, right;
  // (1,1) against (1,0): error 1, cosine 1/sqrt2, and of the two equal candidates the first is chosen: right.
  const Score score = score_reads(two_heads(), {{3, 4, 0, 2, 9, 9, 1, 1}, {}, {}});
  check_close({score.metrics[0].second, score.metrics[1].second, score.metrics[2].second},
              {22.0 / 6, (0.6 + 1 + std::sqrt(0.5)) / 3, 2.0 / 3}, 1e-15);
  check_close(score.series.at("mse_by_step"), {10, 0.5}, 1e-15);
  check_close(score.series.at("cosine_by_step"), {0.6, (1 + std::sqrt(0.5)) / 2}, 1e-15);
  check_close(score.series.at("accuracy_by_step"), {0, 1}, 0);
}

BOOST_AUTO_TEST_CASE(non_finite_and_zero_reads) {
  const Problem p = two_heads();
  const Output bad{{NAN, 0, 0, INFINITY, 0, 0, 0, 0}, {}, {}};
  for (int t : {0, 1}) {
    BOOST_TEST(score_read(p, bad, 0, t).cosine == 0);
    BOOST_TEST(!score_read(p, bad, 0, t).right);
    BOOST_TEST(!std::isfinite(score_read(p, bad, 0, t).square_error));
  }
  BOOST_TEST(score_read(p, bad, 1, 1).cosine == 0);
  BOOST_TEST(score_read(p, bad, 1, 1).square_error == 1);
}

BOOST_AUTO_TEST_CASE(nothing_asked_gives_no_metrics) {
  Problem p = two_heads();
  p.scored = {0, 0};
  BOOST_TEST(score_reads(p, {p.target, {}, {}}).metrics.empty());
}

BOOST_AUTO_TEST_CASE(only_the_first_candidates_are_chosen_among) {
  const Problem p = two_heads(); // (0,2) is nearer to (0,1), the second candidate
  const Output out{{3, 4, 0, 2, 9, 9, 1, 1}, {}, {}};
  BOOST_TEST((score_read(p, out, 0, 1).chosen == 1 && score_read(p, out, 0, 1).right));
  BOOST_TEST((score_read(p, out, 0, 1, 1).chosen == 0 && !score_read(p, out, 0, 1, 1).right));
  BOOST_TEST(score_read(p, out, 0, 1, 9).chosen == 1); // at most the number of candidates
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
