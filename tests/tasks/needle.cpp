// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(needle)

BOOST_AUTO_TEST_CASE(the_needle_is_written_once_and_asked_at_the_end) {
  for (const char *kind : {"passkey", "number", "uuid"}) {
    check_generator("needle", {{"kind", kind}});
    const int tokens = std::string(kind) == "uuid" ? 32 : 7, T = 500, d = 32;
    const Instance row("needle", {{"kind", kind}, {"memories", "2"}, {"T", "500"}});
    const Sequence &s = row.problem.sequence;
    for (int m : {0, 1})
      for (int i = 0; i < tokens; ++i) {
        const int asked = m * T + T - tokens + i, written = m * T + int((m + 0.5) / 2 * (T - 2 * tokens)) + i;
        for (int c = 0; c < d; ++c) {
          BOOST_TEST(s.q[asked * d + c] == s.k[written * d + c]);
          BOOST_TEST(row.problem.target[asked * d + c] == s.v[written * d + c]);
        }
      }
    const Score best = row.score(perfect(row.problem));
    BOOST_TEST(metric(best, "accuracy") == 1);
    BOOST_TEST(metric(best, "exact") == 1);
  }
  BOOST_CHECK_THROW(Instance("needle", {{"kind", "uuid"}, {"T", "63"}}), Error);
}

BOOST_AUTO_TEST_CASE(a_sentence_repeats_and_words_do_not) {
  const int T = 60, d = 32, start = (T - 14) / 2; // of the needle, in the middle
  for (const char *kind : {"passkey", "number"}) {
    const Instance row("needle", {{"kind", kind}, {"memories", "1"}, {"T", "60"}, {"period", "9"}});
    const auto same = [&](const std::vector<double> &x, int s, int t) {
      return std::equal(&x[size_t(s) * d], &x[size_t(s) * d] + d, &x[size_t(t) * d]);
    };
    for (int t = 0; t < T; ++t)
      for (int s = 0; s < t; ++s) {
        if ((s >= start && s < start + 7) || (t >= start && t < start + 7)) continue;
        const bool again = std::string(kind) == "passkey" && s % 9 == t % 9;
        BOOST_TEST((same(row.problem.sequence.k, s, t) == again && same(row.problem.sequence.v, s, t) == again));
      }
  }
}

BOOST_AUTO_TEST_CASE(one_wrong_token_spoils_its_needle_only) {
  const Instance row("needle", {{"memories", "2"}, {"T", "64"}, {"kind", "number"}});
  Output out = perfect(row.problem);
  for (int c = 0; c < 32; ++c) out.o[63 * 32 + c] *= -1;
  const Score score = row.score(out);
  BOOST_TEST(std::fabs(metric(score, "accuracy") - 13.0 / 14) < 1e-15);
  BOOST_TEST(metric(score, "exact") == 0.5);
  check_close(score.series.at("exact_by_depth"), {0, 1}, 0);
}

BOOST_AUTO_TEST_CASE(other_needles_stand_beside_the_one_that_is_asked) {
  // The middle of 100 steps: the needle starts at 43; slots of 7 steps from 1 to 85 but its own are 12 other needles.
  const int T = 100, d = 32, start = (T - 14) / 2;
  const Instance alone("needle", {{"memories", "1"}, {"T", "100"}});
  for (const auto &[needles, others] : {std::pair{"1", 0}, {"4", 3}, {"0", 12}}) {
    check_generator("needle", {{"needles", needles}});
    const Instance row("needle", {{"memories", "1"}, {"T", "100"}, {"needles", needles}, {"alike", "0.6"}});
    const Sequence &s = row.problem.sequence, &plain = alone.problem.sequence;
    int changed = 0;
    double product = 0; // of their keys with those of the needle
    for (int t = 0; t < T; ++t) {
      if (std::equal(&s.k[size_t(t) * d], &s.k[size_t(t) * d] + d, &plain.k[size_t(t) * d])) continue;
      ++changed;
      BOOST_TEST((t < start || t >= start + 7));
      BOOST_TEST(t < T - 7);
      int digit = -1;
      for (int c = 0; c < 10; ++c)
        if (std::equal(&s.v[size_t(t) * d], &s.v[size_t(t) * d] + d, &row.problem.candidates[size_t(c) * d])) digit = c;
      BOOST_TEST(digit >= 0);
      for (int c = 0; c < d; ++c) product += s.k[size_t(t) * d + c] * s.k[size_t(start + (t - 1) % 7) * d + c];
    }
    BOOST_TEST(changed == 7 * others);
    BOOST_TEST((row.problem.answer == alone.problem.answer && row.problem.target == alone.problem.target));
    // each product is 0.6 + 0.8 x, where x of two unit vectors has the variance 1 / d
    if (others) BOOST_TEST(std::fabs(product / changed - 0.6) < 6 * 0.8 / std::sqrt(double(d) * changed));
  }
  BOOST_CHECK_THROW(Instance("needle", {{"needles", "9"}, {"T", "76"}}), Error);
}

BOOST_AUTO_TEST_CASE(the_delta_rule_finds_the_passkey_and_loses_the_number) {
  // 002 §6: noise that repeats is written once and then left alone (16 of 64 directions), distinct words fill the
  // memory. 64 needles: their 448 tokens are right by 0.36 on average, 0.023 a standard error.
  const Instance passkey("needle", {{"kind", "passkey"}, {"d", "64"}, {"memories", "64"}}),
      number("needle", {{"kind", "number"}, {"d", "64"}, {"memories", "64"}});
  BOOST_TEST(metric(passkey.score(delta_rule(passkey.problem.sequence)), "accuracy") > 0.9);
  BOOST_TEST(metric(number.score(delta_rule(number.problem.sequence)), "accuracy") < 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
