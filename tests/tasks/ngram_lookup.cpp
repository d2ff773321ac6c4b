// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(ngram_lookup)

BOOST_AUTO_TEST_CASE(the_ngram_asked_is_in_the_text_once_and_its_successor_right) {
  check_generator("ngram_lookup", {});
  const size_t T = 38, d = 64;
  const Instance row("ngram_lookup", {{"memories", "20"}, {"n", "3"}, {"length", "40"}, {"vocabulary", "4"}});
  const Sequence &s = row.problem.sequence;
  for (size_t m = 0; m < 20; ++m) {
    const double *asked = &s.q[((m + 1) * T - 1) * d], *target = &row.problem.target[((m + 1) * T - 1) * d];
    int found = 0;
    for (size_t t = m * T; t + 1 < (m + 1) * T; ++t) {
      if (!std::equal(asked, asked + d, &s.k[t * d])) continue;
      ++found;
      BOOST_TEST(std::equal(target, target + d, &s.v[t * d]));
    }
    BOOST_TEST(found == 1);
    BOOST_TEST(s.beta[(m + 1) * T - 1] == 0);
  }
  BOOST_TEST(metric(row.score(perfect(row.problem)), "accuracy") == 1);
  BOOST_CHECK_THROW(Instance("ngram_lookup", {{"n", "5"}, {"length", "5"}}), Error);
  BOOST_CHECK_THROW(Instance("ngram_lookup", {{"n", "1"}, {"length", "500"}, {"vocabulary", "2"}}), Error);
}

BOOST_AUTO_TEST_CASE(ngrams_overlap_by_the_share_of_tokens_in_common) {
  // Bigrams of two tokens from two texts: keys have the inner product (shared places) / 2, up to 6 / sqrt(d).
  const size_t d = 4096, T = 15;
  const Instance row("ngram_lookup", {{"memories", "1"}, {"length", "16"}, {"d", "4096"}, {"vocabulary", "3"}});
  int full = 0, half = 0, none = 0;
  for (size_t a = 0; a + 1 < T; ++a)
    for (size_t b = 0; b + 1 < T; ++b) {
      double product = 0;
      for (size_t c = 0; c < d; ++c) product += row.problem.sequence.k[a * d + c] * row.problem.sequence.k[b * d + c];
      const bool is_full = std::fabs(product - 1) < 0.1, is_half = std::fabs(product - 0.5) < 0.1;
      full += is_full, half += is_half, none += std::fabs(product) < 0.1;
    }
  BOOST_TEST(full + half + none == 14 * 14);
  BOOST_TEST((full >= 14 && half > 0 && none > 0));
}

BOOST_AUTO_TEST_CASE(the_delta_rule_looks_up_short_texts) {
  const Instance row("ngram_lookup", {{"length", "12"}, {"d", "256"}});
  BOOST_TEST(metric(row.score(delta_rule(row.problem.sequence)), "accuracy") > 0.9);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
