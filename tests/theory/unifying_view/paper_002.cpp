// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(paper_002)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claims({"blog_*"}); }

BOOST_AUTO_TEST_CASE(measured_at_the_users_point) {
  const auto at_point = [](const std::string &id, const Assignments &given) {
    const Claim &claim = *select_claims({id}).front();
    return examine(claim, {Effort::quick, 3, resolve(claim.params, given, claim.id)});
  };
  const Finding forgets = at_point("blog_never_forgets", {{"d", "8"}, {"writes", "6"}, {"beta", "0.5"}});
  BOOST_TEST(forgets.passed);
  BOOST_TEST(forgets.points.back().predicted == std::pow(1 - 0.5 / 8, 6));
  BOOST_TEST(at_point("blog_capacity_gated", {{"n", "64"}, {"d", "16"}, {"alpha", "0.9"}}).passed);
  const Finding gated = at_point("blog_capacity_gated", {{"n", "2"}, {"d", "16"}, {"alpha", "1"}});
  // Two items, no gate: the last is exact, the first errs by p - 2 s + 1 with p = 1 - 2/d + (2 + F)/(d(d+2)) + 1/d and
  // F = 1.
  BOOST_TEST(gated.points.front().predicted == (1 - 1 / 16. + 3 / (16. * 18) - 2 * 15 / 16. + 1) / 2,
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(one_write_by_hand) {
  // S = [[1, 2]], k = (1, 0), v = 5, beta = 1/2: S k = 1, S' = S + (5 - 1)/2 k^T = [[3, 2]].
  Sequence s = one_head(1, {1, 0}, {1, 0}, {5});
  s.beta = {0.5}, s.state = {1, 2};
  const Output out = forward(find_variant("delta_net"), s);
  check_close(out.state, {3, 2}, 0);
  check_close(out.o, {3}, 0); // (1 - beta) 1 + beta 5
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
