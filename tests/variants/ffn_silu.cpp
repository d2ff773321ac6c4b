// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(ffn_silu)

BOOST_AUTO_TEST_CASE(two_rows_by_hand) {
  // silu(ln 3) = 3/4 ln 3, silu(-ln 3) = -1/4 ln 3, silu(0) = 0.
  const double ln3 = std::log(3.0);
  const Sequence s = one_head(2, {ln3, 0}, {1, -1}, {4, 8});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("ffn_silu"), s, {form, Real::f64, 1, {}}).o, {3 * ln3 - 2 * ln3, 0},
                32 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(with_its_mirror_image_it_is_the_linear_map) { // silu(z) - silu(-z) = z
  const Sequence s = random_sequence({1, 1, 50, 6, 4}, 17);
  Sequence mirrored = s;
  for (double &x : mirrored.q) x = -x;
  Output out = forward(find_variant("ffn_silu"), s, {"parallel", Real::f64, 16, {}});
  const Output other = forward(find_variant("ffn_silu"), mirrored, {"parallel", Real::f64, 16, {}});
  for (size_t i = 0; i < out.o.size(); ++i) out.o[i] -= other.o[i];
  const Dense q(50, 6, s.q), k(50, 6, s.k), v(50, 4, s.v);
  check_close(out.o, (q * transpose(k) * v).data,
              50 * accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
