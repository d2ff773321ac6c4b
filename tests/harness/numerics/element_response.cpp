// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/element_response.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(element_responses)

BOOST_AUTO_TEST_CASE(of_a_number_is_the_read_itself) {
  // o = b q / m; a relative change of +-1 in m changes o by b q / m, to first order.
  const ElementResponse r = element_response(Dense(1, 1, {4}), Dense(1, 1, {6}), {2});
  BOOST_TEST(r.size == 3);
  BOOST_TEST(r.change == 3);
}

BOOST_AUTO_TEST_CASE(of_a_diagonal_matrix_is_that_of_its_elements) {
  // M = diag(1, 10), B = (1, 1), q = (1, 10): o = 1 + 1. Each term changes by +-1 with a random sign of its own.
  const ElementResponse r = element_response(Dense(2, 2, {1, 0, 0, 10}), Dense(1, 2, {1, 1}), {1, 10});
  BOOST_TEST(std::fabs(r.size - 2) < 1e-15);
  BOOST_TEST((std::fabs(r.change - 2) < 1e-15 || r.change < 1e-15)); // equal signs, or opposite ones
}

BOOST_AUTO_TEST_CASE(grows_with_the_condition_number_and_is_infinite_where_singular) {
  const auto near_singular = [](double gap) {
    return element_response(Dense(2, 2, {1, 1 - gap, 1 - gap, 1}), Dense::identity(2), {1, -1}).change;
  };
  BOOST_TEST(near_singular(1e-6) > 1e4 * near_singular(1e-1));
  BOOST_TEST(std::isinf(element_response(Dense(2, 2, {1, 1, 1, 1}), Dense::identity(2), {1, 1}).change));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
