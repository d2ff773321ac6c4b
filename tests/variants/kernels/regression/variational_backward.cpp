// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/gradients.hpp"
#include <cmath>
#include <numeric>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(variational_gradients)

const Assignments plain{{"phi", "identity"}, {"lambda0", "1"}, {"u_norm", "1"}, {"refresh", "0"}};

BOOST_AUTO_TEST_CASE(one_step_by_hand) {
  // A = diag(1/2, 1), o = v (k_1 / 2) / r with r^2 = k_1^2 / 4 + k_2^2: of k = (2, 1), r^2 = 2.
  Sequence s = one_head(1, {1, 0}, {2, 1}, {6});
  s.w = {1, 0};
  const double root = std::sqrt(2);
  const Sequence d = gradients("vla", s, 1, {1}, plain);
  check_close(d.v, {1 / root}, rounding);
  check_close(d.q, {6 / root, 6 / root}, rounding);
  check_close(d.k, {6 / (4 * root), -6 / (2 * root)}, 6 * rounding);
}

BOOST_AUTO_TEST_CASE(lengths_of_keys_and_penalties_have_no_slope) {
  const Sequence s = random_sequence({1, 1, 14, 4, 2}, 361);
  const Sequence d = gradients("vla", s, 5, random_sequence(s.shape, 362).v, plain);
  for (int t = 0; t < 14; ++t) {
    double key = 0, penalty = 0;
    for (int j = 0; j < 4; ++j) {
      key += d.k[t * 4 + j] * s.k[t * 4 + j];
      penalty += d.w[t * 4 + j] * s.w[t * 4 + j];
    }
    BOOST_TEST(std::abs(key) <= 100 * rounding * max_abs(d.k));
    BOOST_TEST(std::abs(penalty) <= 100 * rounding * max_abs(d.w));
  }
  BOOST_TEST((max_abs(d.k) > 0.1 && max_abs(d.w) > 1e-3));
}

BOOST_AUTO_TEST_CASE(later_directions_turn_with_earlier_penalties) {
  // The forward pass itself, a little to both sides of each number.
  Sequence s = random_sequence({1, 1, 6, 3, 2}, 363);
  const std::vector<double> d_o = random_sequence(s.shape, 364).v;
  const Sequence d = gradients("vla", s, 4, d_o, plain);
  const Variant &vla = find_variant("vla");
  const auto loss = [&] {
    const std::vector<double> o = forward(vla, s, {"chunked", Real::f64, 4, variant_params(vla, plain)}).o;
    return std::inner_product(o.begin(), o.end(), d_o.begin(), 0.0);
  };
  for (std::vector<double> Sequence::*rows : {&Sequence::k, &Sequence::w})
    for (size_t at = 0; at < s.k.size(); ++at) {
      double &x = (s.*rows)[at];
      const double here = x, step = 1e-5;
      x = here + step;
      const double above = loss();
      x = here - step;
      const double below = loss();
      x = here;
      BOOST_TEST(std::abs((above - below) / (2 * step) - (d.*rows)[at]) <= 1e-8 * max_abs(d.*rows));
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
