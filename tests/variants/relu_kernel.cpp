// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(relu_kernel)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // z = 2 at step 1; z = (-2, 4) at step 2, where the first pair has weight 0.
  const Sequence s = one_head(2, {2, 0, -2, 4}, {1, 0, 0, 1}, {3, 5});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("relu_kernel"), s, {form, Real::f64, 1, {}}).o, {6, 20}, 0);
}

BOOST_AUTO_TEST_CASE(with_its_mirror_image_it_is_the_linear_kernel) { // relu(z) - relu(-z) = z
  const Sequence s = random_sequence({1, 3, 60, 6, 4}, 4);
  Sequence mirrored = s;
  for (double &x : mirrored.q) x = -x;
  const Variant &layer = find_variant("relu_kernel");
  Output out = forward(layer, s, {"parallel", Real::f64, 16, {}});
  const Output other = forward(layer, mirrored, {"parallel", Real::f64, 16, {}});
  for (size_t i = 0; i < out.o.size(); ++i) out.o[i] -= other.o[i];
  check_close(out.o, forward(find_variant("linear"), s).o,
              60 * accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
