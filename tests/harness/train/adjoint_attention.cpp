// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/train/held_to_gradient.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(adjoint_attention)

BOOST_AUTO_TEST_CASE(attention) {
  held_to_gradient("softmax", {}, {}, odd);
  held_to_gradient("softmax", {{"scale", "3"}}, {}, odd);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
