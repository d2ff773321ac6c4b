// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_construction)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("shortconv_w0_typo", {{"i", "4"}, {"T", "11"}, {"d", "3"}});
  check_claim_at("mqar_orthonormal_construction", {{"P", "7"}, {"d", "20"}, {"T", "90"}});
  check_claim_at("mqar_p64_d64", {{"d", "24"}, {"T", "600"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("mqar_orthonormal_construction", {{"P", "11"}, {"d", "20"}, {"T", "90"}});
  refuse_point("shortconv_w0_typo", {{"i", "10"}, {"T", "11"}, {"d", "3"}});
}

BOOST_AUTO_TEST_CASE(a_cue_written_twice_reads_twice_its_response) {
  // u1 r1 u1 r1 u1 on the standard basis, u1 = e1, r1 = e2: the keys are u1 r1 u1 r1, the values r1 u1 r1 u1, the
  // queries the values.
  const Sequence s = one_head(4, {0, 1, 1, 0, 0, 1, 1, 0}, {1, 0, 0, 1, 1, 0, 0, 1}, {0, 1, 1, 0, 0, 1, 1, 0});
  check_close(forward(find_variant("linear"), s).o, {0, 0, 0, 1, 1, 0, 0, 2},
              0); // step 3 asks for r1, which u1 followed once
}

BOOST_AUTO_TEST_CASE(there_is_no_token_before_the_first) {
  check_claim_at("mqar_indices_typo", {{"P", "10"}, {"d", "40"}, {"T", "100"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
