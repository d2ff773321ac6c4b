// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(noisy_recall)

namespace {

/// Tokens 0 ... 2 pairs - 2 of a text; the last token, the answer, is not shown.
std::vector<int> tokens_of(const Instance &row) {
  std::vector<int> tokens{token_of(row, row.problem.sequence.k, 0)};
  for (int t = 0; t < row.problem.sequence.shape.T; ++t) tokens.push_back(token_of(row, row.problem.sequence.v, t));
  return tokens;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_key_seen_before_asks_for_its_value) {
  check_generator("noisy_recall", {});
  const Instance row("noisy_recall", {{"memories", "1"}, {"pairs", "40"}, {"noise", "0.5"}});
  const Sequence &s = row.problem.sequence;
  const std::vector<int> tokens = tokens_of(row);
  BOOST_TEST((s.shape.T == 78 && tokens.size() == 79u));
  std::map<int, int> value;
  int noise = 0, asked = 0;
  for (int i = 0; i < 40; ++i) {
    const int key = tokens[2 * i], held = i < 39 ? tokens[2 * i + 1] : -1;
    const auto answer = [&](int token) { return token > 0 ? row.problem.answer[token - 1] : -1; };
    if (key >= 16) { // 16 noise tokens, in pairs
      BOOST_TEST((held >= 16 && held < 32 && answer(2 * i) == -1));
      ++noise;
    } else {
      BOOST_TEST(key < 8);
      BOOST_TEST(answer(2 * i) == (value.count(key) ? value[key] : -1));
      asked += value.count(key);
      if (held >= 0) BOOST_TEST((held >= 8 && held < 16 && value.emplace(key, held).first->second == held));
    }
    if (i < 39) BOOST_TEST(answer(2 * i + 1) == -1);
  }
  BOOST_TEST((tokens.back() < 8 && row.problem.answer.back() >= 8)); // the last pair asks
  BOOST_TEST(std::fabs(noise - 19.0) < 16); // of 38 with probability 1/2: five standard deviations
  BOOST_TEST(asked > 0);
  for (int t = 0; t + 1 < s.shape.T; ++t) BOOST_TEST(token_of(row, s.k, t + 1) == token_of(row, s.v, t));
}

BOOST_AUTO_TEST_CASE(a_sum_over_orthonormal_tokens_reads_a_value_as_often_as_it_was_written) {
  // Nothing else follows a key, so that S q = n v exactly, with or without noise: all right, and |o - v|^2 = (n - 1)^2.
  for (const char *noise : {"0", "0.8"}) {
    const Instance row("noisy_recall", {{"embedding", "orthonormal"}, {"noise", noise}, {"memories", "2"}});
    const Shape &shape = row.problem.sequence.shape;
    double squares = 0;
    int asked = 0;
    for (int m = 0; m < 2; ++m) {
      std::map<int, int> written;
      for (int t = 0; t < shape.T; ++t) {
        const size_t step = size_t(m) * shape.T + t;
        ++written[token_of(row, row.problem.sequence.k, step)];
        if (row.problem.answer[step] < 0) continue;
        squares += std::pow(written[token_of(row, row.problem.sequence.q, step)] - 1, 2);
        ++asked;
      }
    }
    const Score sum = row.score("linear");
    BOOST_TEST((metric(sum, "accuracy") == 1 && asked > 2));
    BOOST_TEST(metric(sum, "mse") == squares / asked / shape.Dv, boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(a_perfect_reader_and_one_that_answers_with_noise) {
  const Instance row("noisy_recall", {});
  BOOST_TEST(metric(row.score(perfect(row.problem)), "accuracy") == 1);
  Output noise = perfect(row.problem);
  const size_t d = row.problem.sequence.shape.Dk;
  for (size_t i = 0; i < noise.o.size(); ++i) noise.o[i] = row.problem.candidates[16 * d + i % d];
  BOOST_TEST(metric(row.score(noise), "accuracy") == 0);
  BOOST_TEST(row.task.ends(row.params).chance == 1 / 8.0);
}

BOOST_AUTO_TEST_CASE(noise_is_not_written_where_its_factor_is_0) {
  const Instance row("noisy_recall", {{"memories", "1"}, {"noise", "0.5"}, {"noise_write", "0"}, {"beta", "0.5"}});
  const std::vector<int> tokens = tokens_of(row);
  for (size_t t = 0; t + 1 < tokens.size(); ++t)
    BOOST_TEST(row.problem.sequence.beta[t] == (tokens[t] < 16 && tokens[t + 1] < 16 ? 0.5 : 0));
  const Instance quiet("noisy_recall", {{"noise", "0"}, {"noise_vocabulary", "0"}, {"vocabulary", "16"}});
  for (int token : tokens_of(quiet)) BOOST_TEST(token < 16);
  BOOST_CHECK_THROW(Instance("noisy_recall", {{"noise_vocabulary", "0"}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
