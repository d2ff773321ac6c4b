// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(stick_breaking)

BOOST_AUTO_TEST_CASE(three_steps_by_hand) {
  // q_3 = 1 meets k_1 = log 3 and k_2 = log 2: shares 3/4 and 2/3. Step 2's key takes 2/3 of the stick, step 1's 3/4 of
  // the third that is left, and 1/12 is not read. q_2 = 2 meets k_1 alone: exp(2 log 3) = 9 to 1. Step 1 sees no key.
  // With its own key k_3 = 0, which takes 1/2, step 3 reads half of that.
  const Sequence s = one_head(3, {5, 2, 1}, {std::log(3.0), std::log(2.0), 0}, {40, 12, 30});
  const Variant &layer = find_variant("stick_breaking");
  for (const char *form : {"recurrent", "chunked"})
    for (int chunk : {1, 2, 3}) {
      check_close(forward(layer, s, {form, Real::f64, chunk, {}}).o, {0, 36, 18}, 1e-13);
      const Params seen = variant_params(layer, {{"current", "seen"}});
      BOOST_TEST(forward(layer, s, {form, Real::f64, chunk, seen}).o[2] == 18 / 2 + 30 / 2,
                 boost::test_tools::tolerance(1e-14));
    }
}

BOOST_AUTO_TEST_CASE(gradients_by_hand) {
  // The same step 3: the weight of v_1 is 1/4, of v_2 2/3. The slope of z_2 is (1 - 2/3) 2/3 (12 - 30), of z_1 1/4 1/4
  // 40, where 30 is what step 1 alone would give.
  const Sequence s = one_head(3, {5, 2, 1}, {std::log(3.0), std::log(2.0), 0}, {40, 12, 30});
  const Variant &layer = find_variant("stick_breaking");
  for (int chunk : {1, 2, 3}) {
    const Sequence g = backward(layer, s, {"chunked", Real::f64, chunk, {}}, {{0, 0, 1}, {}});
    check_close(g.v, {1 / 4.0, 2 / 3.0, 0}, 1e-14);
    check_close(g.k, {2.5, -4, 0}, 1e-13);
    check_close(g.q, {0, 0, 2.5 * std::log(3.0) - 4 * std::log(2.0)}, 1e-13);
    const Sequence own = backward(layer, s, {"chunked", Real::f64, chunk, variant_params(layer, {{"current", "seen"}})},
                                  {{0, 0, 1}, {}});
    check_close(own.v, {1 / 8.0, 1 / 3.0, 1 / 2.0}, 1e-14); // half of all, and (1 - 1/2) 1/2 (30 - 18) for z_3
    check_close(own.k, {1.25, -2, 3}, 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(equal_logits_give_a_gated_recurrence) {
  // All logits are log 3: a geometric average of the values with decay 1/4, which retnet computes with reads of 3/4.
  Sequence s = random_sequence({2, 2, 40, 9, 5}, 31);
  for (size_t i = 0; i < s.q.size(); ++i) s.q[i] = s.k[i] = i % 9 == 0;
  check_reduction("retnet", s, "stick_breaking", s, {{"gamma", "0.25"}, {"scale", "0.75"}},
                  {{"scale", "1.0986122886681098"}, {"current", "seen"}}, false);
}

BOOST_AUTO_TEST_CASE(a_steep_sigmoid_reads_the_newest_match) {
  // Shares are 1 at the query's own key and 0 at the three others: of equal keys the newest alone is read.
  const Variant &layer = find_variant("stick_breaking");
  Sequence s = random_sequence({1, 1, 9, 4, 3}, 32);
  for (int t = 0; t < 9; ++t)
    for (int j = 0; j < 4; ++j) s.k[t * 4 + j] = t % 4 == j, s.q[t * 4 + j] = j == 2;
  const Params steep = variant_params(layer, {{"scale", "2000"}, {"threshold", "0.5"}});
  for (const char *form : {"recurrent", "chunked"}) {
    std::vector<double> newest(9 * 3);
    for (int i = 3 * 3; i < 9 * 3; ++i) newest[i] = s.v[(i < 7 * 3 ? 2 * 3 : 6 * 3) + i % 3];
    check_close(forward(layer, s, {form, Real::f64, 4, steep}).o, newest, 4 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
