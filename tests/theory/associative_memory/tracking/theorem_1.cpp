// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(theorem_1)

const std::vector<const char *> claims{"theorem1_round", "theorem1_order", "theorem1_query_step",
                                       "theorem1_typo_fkiki"};

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  const Assignments leaning{{"n", "7"}, {"d", "9"}, {"cosine", "0.1"}, {"swaps", "60"}},
      other_way{{"n", "11"}, {"d", "11"}, {"cosine", "-0.09"}, {"swaps", "150"}},
      hadamard{{"n", "20"}, {"d", "128"}, {"keys", "hadamard"}, {"swaps", "40"}},
      random{{"n", "20"}, {"d", "128"}, {"keys", "unit"}, {"swaps", "40"}};
  for (const char *id : claims) {
    check_claim_at(id, leaning);
    check_claim_at(id, other_way, 2);
    refuse_point(id, random); // coherence above 1/8
  }
  check_claim_at("theorem1_round", hadamard);
}

BOOST_AUTO_TEST_CASE(one_exchange_by_hand) {
  // Two unit vectors, values 1 and 2; then k = e2 - e1, v = 0: u_3 = -(f(-1) 1 + f(1) 2) = -1,
  // o(e1) = f(1) 1 + f(0) 2 + f(-1) u_3 = 2 and o(e2) = f(0) 1 + f(1) 2 + f(1) u_3 = 1.
  const Dense k(3, 2, {1, 0, 0, 1, -1, 1}), v(3, 1, {1, 2, 0});
  const Dense u = solve_unit_lower(causal_weights(k, k, round_kernel, Triangle::strict), v);
  check_close(u.data, {1, 2, -1}, 0);
  const auto last_read = [&](double x, double y) {
    return (causal_weights(k, Dense(3, 2, {0, 0, 0, 0, x, y}), round_kernel, Triangle::with_diagonal) * u)(2, 0);
  };
  BOOST_TEST(last_read(1, 0) == 2);
  BOOST_TEST(last_read(0, 1) == 1);
}

BOOST_AUTO_TEST_CASE(the_story_keeps_the_books) {
  const Dense keys = Dense::identity(3);
  const SwapStory story = tell_swaps(keys, 50, 4);
  BOOST_TEST(story.sequence.shape.T == 56);
  std::vector<double> values{1, 2, 3};
  for (int t = 3; t < 53; ++t) {
    int up = -1, down = -1, asked = -1;
    for (int c = 0; c < 3; ++c) {
      if (story.sequence.k[t * 3 + c] > 0) up = c;
      if (story.sequence.k[t * 3 + c] < 0) down = c;
      if (story.sequence.q[t * 3 + c] == 1) asked = c;
    }
    BOOST_TEST_REQUIRE((up > down && down >= 0 && asked >= 0));
    BOOST_TEST(story.sequence.v[t] == 0);
    BOOST_TEST(story.before[t] == values[asked]);
    std::swap(values[up], values[down]);
    BOOST_TEST(story.target[t] == values[asked]);
  }
  for (int i = 0; i < 3; ++i) BOOST_TEST(story.target[53 + i] == values[i]);
  BOOST_TEST(story.values == values);
}

BOOST_AUTO_TEST_CASE(the_layer_is_the_host_recursion) {
  const SwapStory story = tell_swaps(Dense(8, 8, make_keys({"orthonormal", 8, 8}, 1, 5)), 100, 5);
  const std::vector<double> reads = reads_of_sums(story.sequence, round_kernel);
  for (const char *form : {"recurrent", "chunked", "doubling"})
    check_close(reads_by("round", story.sequence, form, Real::f32), reads, 0);
}

BOOST_AUTO_TEST_CASE(the_worst_keys_reach_four_eps) {
  const Dense k = worst_keys(0.1);
  BOOST_TEST(std::fabs(coherence(k) - 0.1) < 1e-15);
  for (int i = 0; i < 4; ++i) BOOST_TEST(std::fabs(inner(&k.data[4 * i], &k.data[4 * i], 4) - 1) < 1e-15);
  double product = 0;
  for (int c = 0; c < 4; ++c) product += (k(0, c) - k(1, c)) * (k(2, c) - k(3, c));
  BOOST_TEST(std::fabs(product - 0.4) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
