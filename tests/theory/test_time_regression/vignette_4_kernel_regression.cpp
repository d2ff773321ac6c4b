// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_4_kernel_regression)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("kernel_regression_eq43", {{"T", "9"}, {"Dk", "4"}, {"Dv", "2"}});
  check_claim_at("kernel_regression_overdetermined", {{"t", "12"}, {"D", "3"}});
  check_claim_at("kernel_approx_identity_eq44_47", {{"D", "9"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("kernel_regression_overdetermined", {{"t", "10"}, {"D", "3"}}); // as many features as pairs
  refuse_point("kernel_regression_eq43", {{"T", "32"}, {"Dk", "2"}});          // nearly the same key many times
}

BOOST_AUTO_TEST_CASE(exponential_kernel_of_two_orthonormal_keys) {
  // Dk = 2: k(K,K) = [[e^(1/sqrt 2), 1], [1, e^(1/sqrt 2)]]; the second key with values 1 and 1 reads the row sum.
  const Sequence s = one_head(2, {1, 0, 0, 1}, {1, 0, 0, 1}, {1, 1});
  check_close(forward(find_variant("exp_unnormalized"), s).o, {std::exp(std::sqrt(0.5)), 1 + std::exp(std::sqrt(0.5))},
              1e-14);
}

BOOST_AUTO_TEST_CASE(one_pair_reads_as_the_ratio_of_kernels) {
  // One unit key with value 3, asked at right angles (Dk = 2): 3 exp(0) / exp(1/sqrt 2).
  const Sequence s = one_head(1, {0, 1}, {1, 0}, {3});
  check_close(
      forward(find_variant("kernel_regression"), s,
              {"recurrent", Real::f64, 1, variant_params(find_variant("kernel_regression"), {{"ridge", "1e-12"}})})
          .o,
      {3 * std::exp(-std::sqrt(0.5))}, 1e-11);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
