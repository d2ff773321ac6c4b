// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(preconditioned_delta)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // base = 4, center = 0, one channel. A_1 = e^1: s = 1/2, M = 4^{-1/2} = 1/2. S_1 = 0.5 * 4 * (k_1 / 2) = k_1 = e^{1/2}.
  // A_2 = 0 + e^{-1}: s = -1/2, M = 2; S decays to e^{1/2} / 2, at k_2 = e^{-1/2} it reads 1/2, the residual is 3,
  // S_2 = e^{1/2} / 2 + 0.5 * 3 * 2 e^{-1/2}.
  const double root = std::exp(0.5), S_2 = root / 2 + 3 / root;
  Sequence s = one_head(2, {2, 5}, {root, 1 / root}, {4, 3.5});
  s.beta = {0.5, 0.5}, s.alpha = {1, 0.5}, s.lambda = {1, 0}, s.state = {0, 0};
  const Variant &variant = find_variant("preconditioned_delta");
  const Params params = variant_params(variant, {{"base", "4"}, {"center", "0"}, {"eps", "1e-30"}});
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(variant, s, {form, Real::f64, 2, params});
    check_close(out.o, {2 * root, 5 * S_2}, 64 * epsilon_of(Real::f64));
    check_close(out.state, {S_2, 1 / (root * root)}, 16 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(with_a_scale_of_1_it_is_gated_delta_net) {
  const Sequence s = random_sequence({2, 2, 70, 9, 5}, 91);
  check_reduction("gated_delta_net", s, "preconditioned_delta", s, {}, {{"base", "1"}}, false);
}

BOOST_AUTO_TEST_CASE(a_channel_at_the_center_is_not_scaled) { // one write to an empty state: M = 1 if k^2 = e^center
  const double k = std::exp(-0.1);
  Sequence s = one_head(1, {1, 0}, {k, 3 * k}, {2});
  s.beta = {0.5}, s.alpha = {1};
  const Output out = forward(find_variant("preconditioned_delta"), s);
  BOOST_TEST(std::fabs(out.o[0] - k) <= 2e-6 * k); // eps beside A, whose logarithm is multiplied by log 1.5 < 1/2
  BOOST_TEST(out.state[1] < 3 * k);                // a channel that is used more is written less
  BOOST_TEST(out.state[1] > 3 * k / 1.5);
}

BOOST_AUTO_TEST_CASE(the_sum_of_squares_is_carried_from_state_to_state) {
  Sequence s = random_sequence({1, 2, 40, 5, 3}, 92), late = slice_steps(s, 25, 40);
  const Variant &variant = find_variant("preconditioned_delta");
  late.state = forward(variant, slice_steps(s, 0, 25)).state;
  const std::vector<double> wanted = forward(variant, s).state;
  check_close(forward(variant, late).state, wanted, 0); // the same operations
  std::vector<double> sums(10);
  for (size_t head = 0; head < 2; ++head)
    for (size_t t = 0; t < 40; ++t)
      for (size_t j = 0; j < 5; ++j) {
        const size_t at = (head * 40 + t) * 5 + j;
        sums[head * 5 + j] = s.lambda[at] * sums[head * 5 + j] + s.k[at] * s.k[at];
      }
  for (size_t head = 0; head < 2; ++head)
    for (size_t j = 0; j < 5; ++j) check_close({wanted[head * 20 + 15 + j]}, {sums[head * 5 + j]}, 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
