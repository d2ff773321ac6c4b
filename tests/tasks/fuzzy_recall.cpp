// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(fuzzy_recall)

BOOST_AUTO_TEST_CASE(the_cue_lies_at_its_angle) {
  check_generator("fuzzy_recall", {});
  const int angles = 4, L = 3, n = 5, T = n * L, d = 32;
  const Instance row("fuzzy_recall", {{"memories", "1"}, {"angles", "4"}, {"n", "5"}});
  const Sequence &s = row.problem.sequence;
  for (int a = 0; a < angles; ++a)
    for (int h = 0; h < L; ++h) {
      const int first = (a * L + h) * T, last = first + T - 1;
      BOOST_TEST(std::equal(&s.q[first * d], &s.q[last * d], &s.k[first * d])); // every step reads its own key
      double largest = -1; // over the items' keys for value token h, of which the asked one is at the given angle
      int nearest = -1, matches = 0;
      for (int item = 0; item < n; ++item) {
        double product = 0;
        for (int c = 0; c < d; ++c) product += s.q[last * d + c] * s.k[(first + item * L + h) * d + c];
        matches += std::fabs(product - std::cos(a * std::acos(0.0) / 3)) < 1e-12;
        if (product > largest) largest = product, nearest = item;
      }
      BOOST_TEST(matches >= 1);
      if (a == 0) // an exact cue: the target is the value written under the nearest key
        for (int c = 0; c < d; ++c)
          BOOST_TEST(row.problem.target[last * d + c] == s.v[(first + nearest * L + h) * d + c]);
    }
}

BOOST_AUTO_TEST_CASE(one_item_is_recalled_up_to_the_right_angle) {
  // One item of one value token: the read is cos(x) v, right until x passes 90 degrees.
  const Instance row("fuzzy_recall", {{"n", "1"}, {"value_tokens", "1"}, {"angles", "5"}, {"widest", "180"}});
  const Score score = row.score("linear");
  const std::vector<double> &cosine = score.series.at("cosine_by_angle");
  check_close({cosine[0], cosine[1], cosine[3], cosine[4]}, {1, 1, -1, -1}, 1e-14);
  BOOST_TEST(score.series.at("accuracy_by_angle")[1] == 1);
  BOOST_TEST(score.series.at("accuracy_by_angle")[4] == 0);
  BOOST_TEST(metric(row.score(perfect(row.problem)), "exact") == 1);
}

BOOST_AUTO_TEST_CASE(exact_needs_every_value_token) {
  const Instance row("fuzzy_recall", {{"memories", "1"}, {"angles", "2"}, {"n", "2"}, {"value_tokens", "4"}});
  Output out = perfect(row.problem);
  const size_t last = (5 + 1) * 8 - 1; // second angle, head 1 of 4, T = 8
  for (int c = 0; c < 32; ++c) out.o[last * 32 + c] *= -1;
  const Score score = row.score(out);
  check_close(score.series.at("exact_by_angle"), {1, 0}, 0);
  check_close(score.series.at("accuracy_by_angle"), {1, 0.75}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
