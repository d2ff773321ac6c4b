// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/train/held_to_gradient.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(adjoint_rls, *boost::unit_test::precondition(tape_runs))

BOOST_AUTO_TEST_CASE(recursive_least_squares) {
  held_to_gradient("rls", {{"ridge", "1"}}, {}, odd);
  held_to_gradient("rls", {{"ridge", "0.3"}}, {}, {1, 2, 9, 12, 3}); // fewer steps than channels
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
