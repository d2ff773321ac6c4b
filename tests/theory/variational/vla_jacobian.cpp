// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vla_jacobian)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"vla_prop2_unit_jacobian", "vla_eq22_identity", "vla_prop2_proof_x_eq_k", "vla_prop2_eigenvalues",
                "vla_appa2_special_cases", "vla_cor2_product_norm", "vla_random_product_law", "vla_c_kantorovich"});
}

BOOST_AUTO_TEST_CASE(smallest_counter_example_by_hand) {
  // J = I - e2 e1^T = [[1,0],[-1,1]]: J^T J = [[2,-1],[-1,1]] has eigenvalues (3 +- sqrt 5)/2, the square of the golden
  // ratio and its inverse.
  const Dense J(2, 2, {1, 0, -1, 1});
  const std::vector<double> values = singular_values(J);
  check_close(values, {(1 + std::sqrt(5.0)) / 2, (std::sqrt(5.0) - 1) / 2}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
