// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(solu)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Dk = 4, so tau = 2. Step 1: z = 2, kappa = 2e. Step 2: z = (-2, 4), kappa = (-2/e, 4 e^2).
  const double e = std::exp(1.0);
  const Sequence s = one_head(2, {2, 0, 0, 0, -2, 4, 0, 0}, {1, 0, 0, 0, 0, 1, 0, 0}, {3, 5});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("solu"), s, {form, Real::f64, 1, {}}).o, {6 * e, -6 / e + 20 * e * e},
                200 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(a_high_temperature_leaves_the_linear_kernel) { // exp(z/tau) - 1 <= 2 |z|/tau for |z| < tau
  const Sequence s = random_sequence({1, 2, 40, 6, 4}, 2);
  const Variant &layer = find_variant("solu");
  const Output out = forward(layer, s, {"parallel", Real::f64, 64, variant_params(layer, {{"tau", "1e9"}})});
  check_close(out.o, forward(find_variant("linear"), s).o, 40 * 2e-9 * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
