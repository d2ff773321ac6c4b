// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/gradients.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(normal_equations_gradients)

BOOST_AUTO_TEST_CASE(two_steps_of_one_channel_by_hand) {
  // o_2 = q M / (N + ridge) with M = a v_1 k_1 + v_2 k_2, N = a k_1^2 + k_2^2: the ridge does not decay.
  const double q = 3, k1 = 1, k2 = 2, v1 = 4, v2 = -1, ridge = 0.5, a = 0.75;
  const double M = a * v1 * k1 + v2 * k2, N = a * k1 * k1 + k2 * k2 + ridge;
  Sequence s = one_head(2, {1, q}, {k1, k2}, {v1, v2});
  s.alpha = {0.5, a};
  for (int C : {1, 2}) {
    const Sequence d = gradients("mesa", s, C, {0, 1}, {{"ridge", "0.5"}});
    check_close(d.q, {0, M / N}, rounding);
    check_close(d.k, {q * a * (v1 * N - 2 * k1 * M) / (N * N), q * (v2 * N - 2 * k2 * M) / (N * N)}, rounding);
    check_close(d.v, {q * a * k1 / N, q * k2 / N}, rounding);
    check_close(d.alpha, {0, q * (v1 * k1 * N - M * k1 * k1) / (N * N)}, rounding);
  }
}

BOOST_AUTO_TEST_CASE(keys_and_queries_of_another_length_are_met_by_the_ridge) {
  // q -> c q, k -> c k, ridge -> c^2 ridge does not change o. So along (q, k) o has the slope -2 ridge do/dridge, which
  // is tiny for a tiny ridge.
  const Sequence s = random_sequence({1, 1, 24, 3, 2}, 352);
  std::vector<double> d_o(24 * 2, 0);
  d_o[23 * 2] = 1;
  const Sequence d = gradients("intention", s, 8, d_o, {{"ridge", "1e-9"}});
  double along = 0;
  for (size_t at = 0; at < s.q.size(); ++at) along += d.q[at] * s.q[at] + d.k[at] * s.k[at];
  BOOST_TEST(std::abs(along) <= 1e-7 * max_abs(d.k));
  BOOST_TEST(max_abs(d.k) > 1e-3);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
