// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(exp_unnormalized)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Dk = 4, so scale = 1/2. Step 1: weight exp(1). Step 2: weights exp(-1) and exp(2).
  const double e = std::exp(1.0);
  const Sequence s = one_head(2, {2, 0, 0, 0, -2, 4, 0, 0}, {1, 0, 0, 0, 0, 1, 0, 0}, {3, 5});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("exp_unnormalized"), s, {form, Real::f64, 1, {}}).o, {3 * e, 3 / e + 5 * e * e},
                64 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(divided_by_its_mass_it_is_softmax) { // the mass is the read of values that are all 1
  const Sequence s = random_sequence({2, 2, 50, 6, 4}, 3);
  Sequence ones = s;
  std::fill(ones.v.begin(), ones.v.end(), 1.0);
  const Variant &layer = find_variant("exp_unnormalized");
  Output out = forward(layer, s, {"parallel", Real::f64, 16, {}});
  const Output mass = forward(layer, ones, {"parallel", Real::f64, 16, {}});
  for (size_t i = 0; i < out.o.size(); ++i) out.o[i] /= mass.o[i];
  check_close(out.o, forward(find_variant("softmax"), s).o,
              accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
