// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/tasks/task_testing.hpp"
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(zoology_mqar)

BOOST_AUTO_TEST_CASE(pairs_come_first_and_every_key_is_asked_once) {
  check_generator("zoology_mqar", {});
  const Instance row("zoology_mqar", {{"memories", "1"}, {"pairs", "6"}, {"T", "40"}, {"vocabulary", "64"}});
  const Sequence &s = row.problem.sequence;
  std::map<int, int> value;
  for (int pair = 0; pair < 6; ++pair) {
    const int key = token_of(row, s.k, size_t(2 * pair)), held = token_of(row, s.v, size_t(2 * pair));
    BOOST_TEST((key >= 1 && key < 32 && held >= 32 && held < 64));
    value[key] = held;
  }
  BOOST_TEST(value.size() == 6u);
  std::set<int> asked;
  for (int t = 0; t < 39; ++t) { // the step of token t + 1
    BOOST_TEST(token_of(row, s.q, size_t(t)) == token_of(row, s.v, size_t(t)));
    if (t > 0) BOOST_TEST(token_of(row, s.k, size_t(t)) == token_of(row, s.v, size_t(t - 1)));
    const int answer = row.problem.answer[size_t(t)];
    if (answer < 0) continue;
    BOOST_TEST((t + 1 >= 12 && (t + 1) % 2 == 0));
    const int key = token_of(row, s.q, size_t(t));
    BOOST_TEST(value.at(key) == answer);
    asked.insert(key);
  }
  BOOST_TEST(asked.size() == 6u);
  BOOST_TEST(metric(row.score(perfect(row.problem)), "accuracy") == 1);
}

BOOST_AUTO_TEST_CASE(updated_keys_answer_with_their_last_value) {
  check_generator("zoology_mqar", {{"updates", "3"}});
  const Instance row("zoology_mqar",
                     {{"memories", "1"}, {"pairs", "6"}, {"updates", "3"}, {"T", "40"}, {"vocabulary", "64"}});
  const Sequence &s = row.problem.sequence;
  std::map<int, int> value;
  int rewritten = 0;
  for (int write = 0; write < 9; ++write) {
    const int key = token_of(row, s.k, size_t(2 * write)), held = token_of(row, s.v, size_t(2 * write));
    if (value.count(key)) {
      ++rewritten;
      BOOST_TEST(value[key] != held);
    }
    value[key] = held;
  }
  BOOST_TEST((rewritten == 3 && value.size() == 6u));
  int asked = 0;
  for (int t = 0; t < 39; ++t)
    if (row.problem.answer[size_t(t)] >= 0) {
      ++asked;
      BOOST_TEST(value.at(token_of(row, s.q, size_t(t))) == row.problem.answer[size_t(t)]);
    }
  BOOST_TEST(asked == 6);
  BOOST_CHECK_THROW(Instance("zoology_mqar", {{"updates", "5"}}), Error);
}

BOOST_AUTO_TEST_CASE(keys_of_two_tokens_are_a_grid) {
  check_generator("zoology_mqar", {{"key_tokens", "2"}});
  const int d = 256;
  const Instance row(
      "zoology_mqar",
      {{"memories", "1"}, {"key_tokens", "2"}, {"pairs", "9"}, {"T", "64"}, {"vocabulary", "60"}, {"d", "256"}});
  const Sequence &s = row.problem.sequence;
  std::map<std::pair<int, int>, int> value;
  std::set<int> firsts, seconds;
  const auto nearest = [&](const std::vector<double> &x, int step, int from, double odd) { // of 20 tokens
    int best = -1;
    double most = 0.5; // a token contributes 1, another one about 1/16
    for (int token = from; token < from + 20; ++token) {
      double product = 0;
      for (int c = 0; c < d; ++c)
        product += (c % 2 ? odd : 1) * x[size_t(step * d + c)] * row.problem.candidates[size_t(token * d + c)];
      if (product * std::sqrt(2) > most) best = token, most = product * std::sqrt(2);
    }
    return best;
  };
  const auto tokens = [&](const std::vector<double> &x, int step) { // of a key's sum
    return std::pair(nearest(x, step, 0, -1), nearest(x, step, 20, 1));
  };
  for (int pair = 0; pair < 9; ++pair) { // the step of the pair's third token
    const auto key = tokens(s.k, 3 * pair);
    const int held = token_of(row, s.v, size_t(3 * pair));
    BOOST_TEST((key.first >= 1 && key.second >= 20 && key.second < 40 && held >= 40));
    value[key] = held, firsts.insert(key.first), seconds.insert(key.second);
  }
  BOOST_TEST((value.size() == 9u && firsts.size() == 3u && seconds.size() == 3u));
  int asked = 0;
  for (int t = 0; t < 62; ++t)
    if (row.problem.answer[size_t(t)] >= 0) {
      ++asked;
      BOOST_TEST(value.at(tokens(s.q, t)) == row.problem.answer[size_t(t)]);
    }
  BOOST_TEST(asked == 9);
  BOOST_CHECK_THROW(Instance("zoology_mqar", {{"key_tokens", "2"}, {"pairs", "5"}}), Error);
}

BOOST_AUTO_TEST_CASE(keys_on_a_grid_interfere_at_any_width, *slow) {
  // The matrix of the g^2 keys has rank 2 g - 1: what a linear map reads at the keys of the first row and column
  // determines its reads at all others.
  const Assignments one{{"memories", "16"}, {"pairs", "16"}, {"T", "128"}, {"d", "256"}, {"vocabulary", "512"}};
  Assignments two = one;
  two["key_tokens"] = "2";
  const auto accuracy_of = [](const Assignments &given) {
    const Instance row("zoology_mqar", given);
    return metric(row.score(delta_rule(row.problem.sequence)), "accuracy");
  };
  BOOST_TEST(accuracy_of(one) > 0.9);
  BOOST_TEST(accuracy_of(two) < accuracy_of(one) - 0.2);
}

BOOST_AUTO_TEST_CASE(places_follow_the_power_law) {
  // One pair in 8 tokens: the three places have the weights 1, 2^-0.99, 3^-0.99 (power 0.01), or equal weights (power
  // 1).
  for (const double power : {0.01, 1.0}) {
    const Instance texts("zoology_mqar", {{"memories", "4000"},
                                          {"pairs", "1"},
                                          {"T", "8"},
                                          {"vocabulary", "8"},
                                          {"d", "2"},
                                          {"power", power == 1 ? "1" : "0.01"}});
    const double weights[] = {1, std::pow(2, power - 1), std::pow(3, power - 1)};
    for (int place = 0; place < 3; ++place) {
      double found = 0;
      for (size_t m = 0; m < 4000; ++m) found += texts.problem.answer[m * 7 + size_t(1 + 2 * place)] >= 0;
      const double share = weights[place] / (weights[0] + weights[1] + weights[2]);
      BOOST_TEST(std::fabs(found / 4000 - share) < 5.5 * std::sqrt(share * (1 - share) / 4000));
    }
  }
  BOOST_CHECK_THROW(Instance("zoology_mqar", {{"pairs", "17"}}), Error); // 4 x 17 > 64
}

BOOST_AUTO_TEST_CASE(linear_attention_is_exact_while_all_tokens_are_orthogonal) {
  // Each key is followed by its value once; the second occurrence asks for it and is followed by filler.
  const Assignments given{{"vocabulary", "256"}, {"d", "256"}, {"embedding", "orthonormal"}, {"pairs", "16"}};
  const Instance exact("zoology_mqar", given);
  Assignments forgetting = given;
  forgetting["updates"] = "8", forgetting["T"] = "96";
  const Instance updated("zoology_mqar", forgetting);
  BOOST_TEST(metric(exact.score("linear"), "accuracy") > 0.9);   // except where a random token is a key of the text
  BOOST_TEST(metric(updated.score("linear"), "accuracy") < 0.9); // old and new value are equally strong
  BOOST_TEST(metric(updated.score(delta_rule(updated.problem.sequence)), "accuracy") > 0.9);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
