// SPDX-License-Identifier: Apache-2.0
// tests/tasks/zoology_mqar.cpp tests the pairs, updates and grids of these texts.
#include "harness/numerics/recall_texts.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(numerics_recall_texts)

RecallText drawn(const RecallTextShape &shape, std::uint64_t number) {
  return recall_text(shape, [&](const char *name) { return Stream(1, std::string("test/") + name, number); });
}

/// One pair in 6 tokens has two places for its query: g = 0 with probability 1 / (1 + 2^(power - 1)).
BOOST_AUTO_TEST_CASE(places_follow_the_power_law) {
  for (const double power : {0.0, 0.5, 1.0}) {
    const RecallTextShape shape{1, 6, 64, 1, 0, power};
    const int texts = 4000;
    int first = 0;
    for (int i = 0; i < texts; ++i) {
      const RecallText text = drawn(shape, std::uint64_t(i));
      BOOST_TEST((text.answers[2] >= 0) != (text.answers[4] >= 0));
      first += text.answers[2] >= 0;
    }
    const double share = 1 / (1 + std::pow(2, power - 1));
    BOOST_TEST(std::abs(first - share * texts) < 5 * std::sqrt(texts * share * (1 - share)), power);
  }
}

BOOST_AUTO_TEST_CASE(texts_that_do_not_exist_are_refused) {
  const RecallTextShape good{4, 16, 64};
  BOOST_TEST(good.shortest() == 16);
  check_recall_text(good, "here");
  for (const RecallTextShape &bad : {RecallTextShape{4, 15, 64}, {4, 16, 8}, {4, 64, 64, 1, 5}, {5, 64, 64, 2}})
    BOOST_CHECK_THROW(check_recall_text(bad, "here"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
