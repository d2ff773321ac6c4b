// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(lemma_1)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("lemma1", {{"n", "7"}, {"d", "9"}, {"cosine", "0.1"}});
  check_claim_at("lemma1", {{"n", "11"}, {"d", "11"}, {"cosine", "-0.09"}}, 2);
  refuse_point("lemma1", {{"n", "20"}, {"d", "128"}, {"keys", "unit"}});     // coherence above 1/8
  refuse_point("lemma1", {{"n", "20"}, {"d", "128"}, {"keys", "hadamard"}}); // the standard basis: nothing strays
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
