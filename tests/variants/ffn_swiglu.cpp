// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(ffn_swiglu)

BOOST_AUTO_TEST_CASE(two_rows_by_hand) {
  // silu(ln 3) = 3/4 ln 3, silu(-ln 3) = -1/4 ln 3; gates w_i q = (2 ln 3, 6 ln 3) at q = ln 3, 0 at q = 0.
  const double ln3 = std::log(3.0);
  Sequence s = one_head(2, {ln3, 0}, {1, -1}, {4, 8});
  s.w = {2, 6};
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("ffn_swiglu"), s, {form, Real::f64, 1, {}}).o, {(6 - 12) * ln3 * ln3, 0},
                64 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(a_gate_of_one_leaves_ffn_silu) { // Dk + 1 channels: w picks a constant 1 that k ignores
  const Sequence plain = random_sequence({1, 1, 30, 4, 3}, 18);
  Sequence gated;
  gated.shape = {1, 1, 30, 5, 3};
  gated.v = plain.v;
  for (int t = 0; t < 30; ++t)
    for (int c = 0; c < 5; ++c) {
      gated.q.push_back(c < 4 ? plain.q[t * 4 + c] : 1);
      gated.k.push_back(c < 4 ? plain.k[t * 4 + c] : 0);
      gated.w.push_back(c < 4 ? 0 : 1);
    }
  check_close(forward(find_variant("ffn_swiglu"), gated, {"parallel", Real::f64, 8, {}}).o,
              forward(find_variant("ffn_silu"), plain).o,
              accumulated_terms(gated.shape, 8) * epsilon_of(Real::f64) * max_abs(plain.v) * 30);
}

BOOST_AUTO_TEST_CASE(names_the_gate_when_it_is_absent) {
  BOOST_CHECK_EXCEPTION(forward(find_variant("ffn_swiglu"), one_head(1, {1}, {1}, {1})), Error, [](const Error &e) {
    return e.code == exit_input && std::string(e.what()).find("w is absent") == 0;
  });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
