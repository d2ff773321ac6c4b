// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(theorem_2_counting)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("counting_needs_complex_eigenvalues", {{"T", "333"}, {"lambda", "-0.7"}, {"above", "-1.3"}}, 4);
  check_claim_at("cyclic_two_reflections", {{"m", "7"}, {"T", "1000"}}, 4);
}

BOOST_AUTO_TEST_CASE(a_rotation_by_120_degrees_by_hand) {
  // Reflections at 60 degrees and then at 0, applied to the row (1, 0): (1, 0) (I - 2 w w^T) = (1/2, -sqrt(3)/2), and the
  // sign of its first channel turned: (-1/2, -sqrt(3)/2).
  const double root = std::sqrt(3.0) / 2;
  Sequence s = one_head(1, {1, 0}, {1, 0}, {0});
  s.w = {0.5, root}, s.beta = {2}, s.state = {1, 0};
  const Variant &v = find_variant("delta_product");
  const Output out =
      forward(v, s, {"recurrent", Real::f64, 16, resolve(v.params, {{"householder", "2"}}, "delta_product")});
  check_close(out.state, {-0.5, -root}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
