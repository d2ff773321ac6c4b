// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(mqar)

BOOST_AUTO_TEST_CASE(keys_are_the_previous_token) {
  check_generator("mqar", {});
  const Instance row("mqar", {{"memories", "2"}, {"P", "3"}, {"T", "20"}, {"d", "8"}});
  const Sequence &s = row.problem.sequence;
  for (int m : {0, 1})
    for (int t = 0; t < 20; ++t)
      for (int c = 0; c < 8; ++c) {
        const size_t at = size_t(m * 20 + t) * 8 + c;
        BOOST_TEST(s.q[at] == s.v[at]);
        if (t > 0) BOOST_TEST(s.k[at] == s.v[at - 8]);
      }
  for (int t = 0; t < 40; t += 2) BOOST_TEST(row.problem.answer[t] == -1); // no question at a response
}

BOOST_AUTO_TEST_CASE(orthonormal_tokens_make_linear_attention_exact) {
  // 003 Eq 58: the read is (occurrences so far) x response. Rounding: T products of unit vectors.
  const Instance row("mqar", {{"memories", "1"}, {"P", "8"}, {"T", "200"}, {"d", "16"}});
  const Output out = forward(find_variant("linear"), row.problem.sequence);
  BOOST_TEST(metric(row.score(out), "accuracy") == 1);
  std::vector<int> count(16, 0);
  double largest = 0;
  int reads = 0;
  for (int t = 0; t < 200; ++t) {
    if (t % 2 == 0) // the step that writes a response: which one, by its embedding
      for (int token = 0; token < 16; ++token)
        count[token] += std::equal(&row.problem.candidates[token * 16], &row.problem.candidates[token * 16] + 16,
                                   &row.problem.sequence.v[t * 16]);
    const int answer = row.problem.answer[t];
    if (answer < 0) continue;
    ++reads;
    for (int c = 0; c < 16; ++c)
      largest = std::max(largest, std::fabs(out.o[t * 16 + c] - count[answer] * row.problem.target[t * 16 + c]));
  }
  BOOST_TEST(reads > 80); // all but the first occurrence of each cue
  BOOST_TEST(largest <= 200 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(cue_storage_needs_only_orthonormal_cues) {
  const Assignments full{{"memories", "2"}, {"P", "16"}, {"T", "64"}, {"d", "16"}, {"storage", "cues"}};
  BOOST_TEST(metric(Instance("mqar", full).score("linear"), "accuracy") == 1);
  Assignments beyond = full;
  beyond["P"] = "64", beyond["T"] = "512";
  const double accuracy = metric(Instance("mqar", beyond).score("linear"), "accuracy");
  BOOST_TEST(accuracy < 0.9); // 64 cues cannot be orthogonal in 16 dimensions
  const Instance shifted("mqar", {{"responses", "shifted"}, {"P", "4"}, {"d", "8"}, {"T", "16"}});
  BOOST_TEST(shifted.problem.candidates.size() == size_t(8) * 4 * 8);
  BOOST_TEST(metric(shifted.score(perfect(shifted.problem)), "accuracy") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
