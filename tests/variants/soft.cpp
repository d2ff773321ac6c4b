// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(soft)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Dk = 4, so the bandwidth is 4. Distances squared: 4 at step 1; 8 and 0 at step 2.
  const Sequence s = one_head(2, {3, 0, 0, 0, 1, 2, 0, 0}, {1, 0, 0, 0, 1, 2, 0, 0}, {4, 5});
  const Sequence other = one_head(2, {3, 0, 0, 0, 3, 2, 0, 0}, {1, 0, 0, 0, 3, 2, 0, 0}, {4, 5});
  const double e = std::exp(1.0);
  for (const char *form : {"recurrent", "parallel"}) {
    check_close(forward(find_variant("soft"), s, {form, Real::f64, 1, {}}).o, {4 / e, 4 / e + 5},
                64 * epsilon_of(Real::f64));
    check_close(forward(find_variant("soft"), other, {form, Real::f64, 1, {}}).o, {4 / e, 4 / (e * e) + 5},
                64 * epsilon_of(Real::f64));
  }
}

double nystrom_error(const Sequence &s, const char *features) {
  const Variant &layer = find_variant("soft");
  return deviation(forward(layer, s, {"nystrom", Real::f64, 16, variant_params(layer, {{"features", features}})}),
                   forward(layer, s))
      .outputs;
}

BOOST_AUTO_TEST_CASE(pooled_landmarks_approximate) {
  const Sequence s = random_sequence({1, 2, 60, 4, 3}, 9);
  const double few = nystrom_error(s, "4"), more = nystrom_error(s, "60");
  BOOST_TEST_MESSAGE("soft nystrom deviates by " << few << " with 4 pools, " << more << " with 60");
  BOOST_TEST(few > 1e-3); // clearly another layer
  BOOST_TEST(more < few / 10);
}

BOOST_AUTO_TEST_CASE(is_skyformer_exactly) {
  const Sequence s = random_sequence({1, 2, 60, 6, 3}, 10);
  check_close(forward(find_variant("soft"), s).o, forward(find_variant("skyformer"), s).o, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
