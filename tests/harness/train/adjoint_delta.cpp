// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/train/held_to_gradient.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(adjoint_delta)

BOOST_AUTO_TEST_CASE(delta_rules) {
  held_to_gradient("delta_net", {}, {Tensor::beta}, odd);
  held_to_gradient("gated_delta_net", {}, {Tensor::beta, Tensor::alpha}, odd);
  held_to_gradient("scalar_gated_delta", {}, {Tensor::beta}, odd);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
