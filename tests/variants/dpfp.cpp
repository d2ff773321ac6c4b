// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/features.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(dpfp)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // relu((x,-x)) of (1,2) is (1,2,0,0), of (2,-1) is (2,0,0,1): phi = (2,0,0,0) and (0,0,0,2). The two keys share no
  // feature, so q = (1,2) still reads 3 after the second write.
  const Output out = forward(find_variant("dpfp"), one_head(2, {1, 2, 1, 2}, {1, 2, 2, -1}, {3, 5}));
  check_close(out.o, {3, 3}, 0);
  check_close(out.state, {6, 0, 0, 10, 2, 0, 0, 2}, 0);
}

BOOST_AUTO_TEST_CASE(queries_without_a_shared_feature_read_nothing) {
  check_close(forward(find_variant("dpfp"), one_head(1, {-1, -2}, {1, 2}, {3})).o, {0}, 0);
}

BOOST_AUTO_TEST_CASE(every_shift_adds_its_products) {
  // (1,-2): r = (1,0,0,2). Shift 1: r_3 r_0 = 2 at 3. Shift 2: none. Shift 3: r_0 r_3 = 2 at 0.
  check_close(features_of("dpfp", {1, -2}, {{"nu", "3"}}), {0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0}, 0);
  BOOST_CHECK_THROW(features_of("dpfp", {1, -2}, {{"nu", "4"}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
