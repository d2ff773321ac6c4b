// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(variant_descriptors)

BOOST_AUTO_TEST_CASE(a_gradient_in_either_convention_is_symmetrised_to_the_same) {
  Variant v;
  const Shape shape{2, 1, 1, 2, 1}; // S [1,2] above P [2,2], two texts
  const std::vector<double> upper{9, 8, 1, 6, 0, 4, 5, 5, 1, 2, 0, 3}, split{9, 8, 1, 5, 1, 4, 5, 5, 1, -1, 3, 3};
  BOOST_TEST((symmetrised(v, shape, upper) == upper)); // it declares no symmetric matrix
  v.symmetric = "P";
  const std::vector<double> halves{9, 8, 1, 3, 3, 4, 5, 5, 1, 1, 1, 3};
  BOOST_TEST((symmetrised(v, shape, upper) == halves));
  BOOST_TEST((symmetrised(v, shape, split) == halves));
  BOOST_TEST(symmetrised(v, shape, {}).empty());
}

BOOST_AUTO_TEST_CASE(what_is_declared_symmetric_is_so_after_a_run) {
  for (const Variant &v : all_variants()) {
    if (v.symmetric.empty()) continue;
    const Sequence s = random_sequence({1, 1, 9, 4, 3}, 3);
    for (const Form &form : v.forms) {
      const std::vector<double> state = forward(v, s, {form.name, Real::f64, 4, variant_params(v)}).state;
      BOOST_TEST_INFO(v.name << " " << form.name);
      check_close(symmetrised(v, s.shape, state), state, 1e-12 * max_abs(state));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
