// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(reachability)

BOOST_AUTO_TEST_CASE(targets_are_the_rows_of_the_inverse) {
  for (const char *shape : {"random", "paths"})
    for (const char *beta : {"1", "-1", "0.5"}) {
      check_generator("reachability", {{"shape", shape}, {"beta", beta}});
      const int N = 10, d = 10, dv = 3;
      const Instance row(
          "reachability",
          {{"graphs", "1"}, {"nodes", "10"}, {"d", "10"}, {"dv", "3"}, {"shape", shape}, {"beta", beta}});
      const Sequence &s = row.problem.sequence;
      Dense system = Dense::identity(N), values(N, dv, s.v); // (I + beta A) u = v, with A taken from w
      int edges = 0;
      for (int t = 0; t < N; ++t)
        for (int i = 0; i < t; ++i) {
          double product = 0;
          for (int c = 0; c < d; ++c) product += s.k[i * d + c] * s.w[t * d + c];
          if (product > 0.5) system(t, i) = s.beta[0], ++edges;
        }
      BOOST_TEST(edges == N - 2);
      check_close((inverse(system) * values).data, row.problem.target, 1e-14);
    }
}

BOOST_AUTO_TEST_CASE(either_sign_of_the_right_root_counts_and_silence_does_not) {
  const Instance row("reachability", {{"graphs", "4"}, {"nodes", "12"}});
  Output out = perfect(row.problem);
  BOOST_TEST(metric(row.score(out), "accuracy") == 1);
  for (double &x : out.o) x = -x;
  BOOST_TEST(metric(row.score(out), "accuracy") == 1);
  for (double &x : out.o) x = 0;
  BOOST_TEST(metric(row.score(out), "accuracy") == 0);
}

BOOST_AUTO_TEST_CASE(a_read_counts_at_its_own_step) {
  const Instance row("reachability", {{"graphs", "4"}, {"nodes", "12"}, {"dv", "2"}});
  Output out = perfect(row.problem);
  const size_t graph = 2, node = 7, step = graph * 12 + node;
  const double *other = &row.problem.candidates[(graph * 2 + 1 - row.problem.answer[step]) * 2];
  const double *right = &row.problem.candidates[(graph * 2 + row.problem.answer[step]) * 2];
  out.o[step * 2] = -right[1], out.o[step * 2 + 1] = right[0]; // 0 along the correct root's value
  BOOST_TEST_REQUIRE(std::fabs(right[0] * other[1] - right[1] * other[0]) > 1e-3);
  std::vector<double> expected(10, 1.0);
  expected[node - 2] = 0.75;
  check_close(row.score(out).series.at("accuracy_by_step"), expected, 0);
}

BOOST_AUTO_TEST_CASE(variants_blind_to_the_edges_are_told) {
  const Task &task = find_task("reachability");
  BOOST_TEST(task.meaningless(find_variant("linear"), {}) != "");
  Variant reader = find_variant("linear");
  reader.inputs.push_back({"w", false, ""});
  BOOST_TEST(task.meaningless(reader, {}) == "");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
