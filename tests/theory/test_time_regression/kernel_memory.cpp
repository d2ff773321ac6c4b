// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(kernel_memory)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"kernel_regression_eq43", "kernel_regression_overdetermined", "kernel_approx_identity_eq44_47"});
}

BOOST_AUTO_TEST_CASE(exponential_kernel_of_two_orthonormal_keys) {
  // Dk = 2: k(K,K) = [[e^(1/sqrt 2), 1], [1, e^(1/sqrt 2)]]; the second key with values 1 and 1 reads the row sum.
  const Sequence s = one_head(2, {1, 0, 0, 1}, {1, 0, 0, 1}, {1, 1});
  check_close(forward(find_variant("exp_unnormalized"), s).o, {std::exp(std::sqrt(0.5)), 1 + std::exp(std::sqrt(0.5))},
              1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
