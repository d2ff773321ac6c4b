// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/train/held_to_gradient.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(adjoint_vla)

BOOST_AUTO_TEST_CASE(variational) {
  held_to_gradient("vla", {}, {Tensor::w}, odd); // one refresh within 23 steps
  held_to_gradient("vla", {}, {}, odd);          // the key penalises itself
  held_to_gradient("vla", {{"refresh", "4"}, {"u_norm", "0"}, {"lambda0", "1"}}, {Tensor::w}, odd);
  held_to_gradient("vla", {{"phi", "identity"}, {"refresh", "0"}}, {Tensor::w}, odd);
}

BOOST_AUTO_TEST_CASE(a_divisor_at_its_least_has_no_slope) {
  Sequence s = random_sequence(odd, 3); // five products of about e^-12 a step: 1e-4 is passed after a few
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] -= 7, s.q[i] -= 5;
  held_to_gradient_at(s, "vla", {}, {Tensor::w});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
