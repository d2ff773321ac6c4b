// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
namespace {

/// The construction of 000 Theorem 1 with f = round, on integers: values are tracked by their index alone.
Output round_memory(const Sequence &s) {
  const int T = s.shape.T, d = s.shape.Dk, dv = s.shape.Dv;
  const auto similarity = [&](const std::vector<double> &x, size_t i, size_t t) {
    double sum = 0;
    for (int c = 0; c < d; ++c) sum += s.k[i * d + c] * x[t * d + c];
    return std::nearbyint(sum);
  };
  Output out{std::vector<double>(s.v.size(), 0.0), {}, {}};
  for (size_t head = 0; head < s.shape.heads(); ++head) {
    std::vector<double> u(s.v.begin() + head * T * dv, s.v.begin() + (head + 1) * T * dv);
    for (int t = 0; t < T; ++t) {
      for (int i = 0; i < t; ++i)
        if (const double f = similarity(s.k, head * T + i, head * T + t))
          for (int c = 0; c < dv; ++c) u[t * dv + c] -= f * u[i * dv + c];
      for (int i = 0; i <= t; ++i)
        if (const double f = similarity(s.q, head * T + i, head * T + t))
          for (int c = 0; c < dv; ++c) out.o[(head * T + t) * dv + c] += f * u[i * dv + c];
    }
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(stress)

BOOST_AUTO_TEST_CASE(round_holds_at_every_level_and_linear_at_the_first_only) {
  check_generator("stress", {{"d", "16"}, {"keys", "unit"}});
  const Instance row("stress", {{"dv", "8"}, {"swaps", "64"}});
  const Score round = row.score(round_memory(row.problem.sequence)),
              linear = row.score(delta_rule(row.problem.sequence));
  BOOST_TEST(metric(round, "accuracy") == 1);
  BOOST_TEST(metric(round, "mse") < 1e-20);
  BOOST_TEST(metric(linear, "accuracy_smallest") == 1);
  BOOST_TEST(metric(linear, "accuracy_largest") < 0.9);
  BOOST_TEST(round.series.at("accuracy_by_level").size() == 2);
}

BOOST_AUTO_TEST_CASE(errors_are_lengths_level_by_level) {
  const Instance row("stress", {{"d", "16"}, {"keys", "unit"}, {"dv", "4"}, {"swaps", "8"}, {"memories", "2"}});
  Output out = perfect(row.problem);
  const Shape &shape = row.problem.sequence.shape; // level 1 is the second half of the batch, off by (3, 4) at the end
  const size_t last = (shape.heads() * shape.T - 1) * 4;
  out.o[last] += 3, out.o[last + 1] -= 4;
  check_close(row.score(out).series.at("error_by_level"), {0, 5.0 / (2 * 8)}, 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
