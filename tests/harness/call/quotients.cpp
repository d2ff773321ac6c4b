// SPDX-License-Identifier: Apache-2.0
#include "harness/call/quotients.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(difference_quotients, *boost::unit_test::precondition(tape_runs))

OneSided at(const char *name, const Sequence &s, Tensor tensor, const OutputWeights &weights = {{1}, {}}) {
  const Variant &variant = find_variant(name);
  Sequence direction;
  direction[tensor] = {1};
  return Quotients(variant, s, variant_params(variant), weights).along(direction);
}

BOOST_AUTO_TEST_CASE(limits_agree_where_a_derivative_exists) { // o = q k v
  const OneSided found = at("linear", one_head(1, {2}, {3}, {5}), Tensor::k);
  BOOST_TEST((found.below && found.above));
  BOOST_TEST(std::fabs(*found.derivative(1) - 10) < 1e-15);
}

BOOST_AUTO_TEST_CASE(limits_differ_at_a_kink) { // o = relu(q k) v
  const OneSided found = at("relu_kernel", one_head(1, {2}, {0}, {5}), Tensor::k);
  BOOST_TEST((std::fabs(*found.below) < 1e-15 && std::fabs(*found.above - 10) < 1e-14));
  BOOST_TEST(!found.derivative(1));
}

BOOST_AUTO_TEST_CASE(there_is_none_at_a_jump) { // S = v k^T / |k|^2: o = v q / k
  const OneSided found = at("nlms", one_head(1, {2}, {0}, {5}), Tensor::k);
  BOOST_TEST((std::isnan(*found.below) && std::isnan(*found.above) && !found.derivative(1)));
}

BOOST_AUTO_TEST_CASE(a_gate_is_moved_within_its_range) {
  for (double gate : {0.0, 1.0}) {
    Sequence s = one_head(1, {2}, {3}, {5});
    s.alpha = {gate}, s.state = {7}; // o = (7 alpha + 15) 2
    const OneSided found = at("mamba2", s, Tensor::alpha);
    BOOST_TEST((found.below.has_value() == (gate == 1) && found.above.has_value() == (gate == 0)));
    BOOST_TEST(std::fabs(*found.derivative(1) - 14) < 1e-14);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
