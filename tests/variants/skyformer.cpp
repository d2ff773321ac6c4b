// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(skyformer)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Dk = 4, so the bandwidth is 4. Distances squared: 4 at step 1; 8 and 0 at step 2.
  const Sequence s = one_head(2, {3, 0, 0, 0, 1, 2, 0, 0}, {1, 0, 0, 0, 1, 2, 0, 0}, {4, 5});
  const Sequence other = one_head(2, {3, 0, 0, 0, 3, 2, 0, 0}, {1, 0, 0, 0, 3, 2, 0, 0}, {4, 5});
  const double e = std::exp(1.0);
  for (const char *form : {"recurrent", "parallel"}) {
    check_close(forward(find_variant("skyformer"), s, {form, Real::f64, 1, {}}).o, {4 / e, 4 / e + 5},
                64 * epsilon_of(Real::f64));
    check_close(forward(find_variant("skyformer"), other, {form, Real::f64, 1, {}}).o, {4 / e, 4 / (e * e) + 5},
                64 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(landmarks_approximate_and_all_of_them_are_exact) {
  const Variant &layer = find_variant("skyformer");
  const Sequence s = random_sequence({1, 2, 60, 4, 3}, 9);
  const std::vector<double> exact = forward(layer, s).o;
  const auto error = [&](const char *features, const char *ridge) {
    const Params params = variant_params(layer, {{"features", features}, {"ridge", ridge}});
    return max_difference(forward(layer, s, {"nystrom", Real::f64, 16, params}).o, exact) / max_abs(exact);
  };
  const double few = error("4", "1e-4"), more = error("40", "1e-4");
  BOOST_TEST_MESSAGE("skyformer nystrom deviates by " << few << " with 4 landmarks, " << more << " with 40");
  BOOST_TEST(few > 1e-3); // clearly another layer
  BOOST_TEST(more < few / 10);
  // With every row a landmark the kernel matrix B becomes B (B + r I)^{-1} B = B - r B (B + r I)^{-1}. The difference
  // is at most r, plus the rounding of B, n^2 eps, since (B + r I)^{-1} B is at most 1. A read adds up to T such
  // weights.
  const double ridge = 1e-10, n = 120;
  BOOST_TEST(error("120", "1e-10") * max_abs(exact) <= 60 * (ridge + n * n * epsilon_of(Real::f64)) * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
