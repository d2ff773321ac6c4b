// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(overwrite)

BOOST_AUTO_TEST_CASE(each_round_writes_every_key_once) {
  check_generator("overwrite", {});
  const Instance row("overwrite",
                     {{"memories", "1"}, {"angles", "1"}, {"n", "3"}, {"rounds", "2"}, {"d", "4"}, {"dv", "5"}});
  const Sequence &s = row.problem.sequence;
  BOOST_TEST((s.shape.B == 1 && s.shape.H == 3 && s.shape.T == 6));
  for (int head = 0; head < 3; ++head)
    for (int t = 0; t < 6; ++t) { // the value written last under the asked key is the target
      double product = 0;
      for (int c = 0; c < 4; ++c) product += s.k[(head * 6 + t) * 4 + c] * s.q[(head * 6 + 5) * 4 + c];
      bool same = true;
      for (int c = 0; c < 5; ++c)
        same = same && s.v[(head * 6 + t) * 5 + c] == row.problem.target[(head * 6 + 5) * 5 + c];
      BOOST_TEST(same == (t >= 3 && product > 0.5)); // 90 degrees: orthonormal keys
    }
}

BOOST_AUTO_TEST_CASE(the_delta_rule_keeps_the_last_value_and_a_sum_keeps_all) {
  const Instance row("overwrite", {{"angles", "2"}, {"closest", "60"}});
  const Score delta = row.score(delta_rule(row.problem.sequence)), sum = row.score("linear");
  BOOST_TEST(delta.series.at("mse_by_angle")[0] < 1e-28); // orthonormal: exact, errors of a few eps squared
  BOOST_TEST(delta.series.at("accuracy_by_angle")[0] == 1);
  BOOST_TEST(delta.series.at("mse_by_angle")[1] > 1e-3);
  // A sum over orthonormal keys reads the four unit values of a key together: error |a + b + c|^2 = 3 on average over
  // dv = 16.
  BOOST_TEST(std::fabs(sum.series.at("mse_by_angle")[0] * 16 - 3) < 1.5); // 16 reads of variance 6/16 x 4: se 0.3
  BOOST_TEST(metric(sum, "stale") > 0.3);
  BOOST_TEST(metric(row.score(perfect(row.problem)), "accuracy") == 1);
}

BOOST_AUTO_TEST_CASE(interference_of_two_writes_by_angle) {
  // 002 §4 with beta = 1: reading k1 after writing (k1,v1), (k2,v2) gives v1 + (v2 - v1 cos) cos. The error is cos^2
  // |v2 - v1 cos|^2.
  const Instance row("overwrite", {{"memories", "1"}, {"angles", "3"}, {"closest", "30"}, {"n", "2"}, {"rounds", "1"}});
  const Sequence &s = row.problem.sequence;
  const Output out = delta_rule(s);
  for (int a = 0; a < 3; ++a) {
    const double cosine = std::cos((90 - 30 * a) * std::acos(-1.0) / 180);
    for (int head : {2 * a, 2 * a + 1}) {
      const int last = head * 2 + 1;
      double error = 0, predicted = 0;
      const bool older = s.v[(head * 2) * 16] == row.problem.target[last * 16]; // this head asks for the first write
      for (int c = 0; c < 16; ++c) {
        const double v1 = s.v[(head * 2) * 16 + c], v2 = s.v[last * 16 + c];
        error += std::pow(out.o[last * 16 + c] - row.problem.target[last * 16 + c], 2);
        predicted += older ? std::pow(cosine * (v2 - v1 * cosine), 2) : 0;
      }
      BOOST_TEST(std::fabs(error - predicted) < 1e-14);
    }
  }
}

BOOST_AUTO_TEST_CASE(stale_is_an_older_value_of_the_key_itself) {
  const Instance row("overwrite", {{"memories", "1"}, {"angles", "1"}, {"n", "3"}, {"rounds", "2"}, {"dv", "5"}});
  const Shape &shape = row.problem.sequence.shape;
  const auto answering = [&](int round,
                             int other) { // each head with this round's value at its own key, or at another
    Output out = perfect(row.problem);
    for (size_t head = 0; head < shape.heads(); ++head)
      for (int c = 0; c < 5; ++c)
        out.o[((head + 1) * shape.T - 1) * 5 + c] =
            row.problem.candidates[(head * shape.T + round * 3 + (head + other) % 3) * 5 + c];
    return row.score(out);
  };
  BOOST_TEST((metric(answering(1, 0), "stale") == 0 && metric(answering(1, 0), "accuracy") == 1));
  BOOST_TEST((metric(answering(0, 0), "stale") == 1 && metric(answering(0, 0), "accuracy") == 0));
  BOOST_TEST((metric(answering(1, 1), "stale") == 0 && metric(answering(1, 1), "accuracy") == 0)); // another key's
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
