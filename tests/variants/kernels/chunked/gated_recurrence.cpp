// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_recurrences)

/// o_t = sum_{i<=t} [q_t . D(t,i) k_i] v_i, pair by pair.
std::vector<double> by_pairs(const Sequence &s) {
  const auto [B, H, T, D, V] = s.shape;
  std::vector<double> o(s.v.size(), 0);
  for (int head = 0; head < B * H; ++head)
    for (int t = 0; t < T; ++t)
      for (int i = 0; i <= t; ++i) {
        double weight = 0;
        for (int j = 0; j < D; ++j) {
          double left = s.k[(head * T + i) * D + j];
          for (int between = i + 1; between <= t; ++between)
            left *= s.alpha[head * T + between] * s.lambda[(head * T + between) * D + j];
          weight += left * s.q[(head * T + t) * D + j];
        }
        for (int c = 0; c < V; ++c) o[(head * T + t) * V + c] += weight * s.v[(head * T + i) * V + c];
      }
  return o;
}

Output chunked(const Sequence &s, Schedule schedule, int C) {
  Run run{"chunked", Real::f64, C, {}};
  run.schedule = schedule;
  return forward(find_variant("gated_linear"), s, run);
}

BOOST_AUTO_TEST_CASE(a_pair_meets_every_decay_between_its_steps) {
  const Sequence s = random_sequence({1, 2, 70, 5, 3}, 301);
  const std::vector<double> expected = by_pairs(s);
  for (Schedule schedule : {Schedule::streaming, Schedule::three_phase})
    for (int C : {7, 32, 70}) check_close(chunked(s, schedule, C).o, expected, 1e-13 * max_abs(expected));
}

BOOST_AUTO_TEST_CASE(what_a_zero_forgets_is_not_read_again) {
  Sequence s = random_sequence({1, 1, 20, 4, 3}, 302);
  s.alpha[9] = 0;
  Sequence other = s; // with other first steps
  for (int at = 0; at < 9 * 4; ++at) other.k[at] += 1;
  for (Schedule schedule : {Schedule::streaming, Schedule::three_phase}) {
    const Output a = chunked(s, schedule, 8), b = chunked(other, schedule, 8);
    BOOST_TEST(a.state == b.state);
    BOOST_TEST(std::equal(a.o.begin() + 9 * 3, a.o.end(), b.o.begin() + 9 * 3));
    BOOST_TEST(!std::equal(a.o.begin(), a.o.begin() + 9 * 3, b.o.begin()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
