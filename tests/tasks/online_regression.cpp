// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(online_regression)

BOOST_AUTO_TEST_CASE(generates_what_it_says) {
  for (const char *noise : {"equicorrelated", "chain", "factors"})
    check_generator("online_regression", {{"noise", noise}});
  check_generator("online_regression", {{"start", "zero"}, {"keys", "raw"}});
  const int T = 40, d = 3;
  const Instance row("online_regression", {{"sequences", "1"}, {"T", "40"}, {"d", "3"}, {"keys", "raw"}});
  const Sequence &s = row.problem.sequence;
  for (int t = 0; t + 1 < T; ++t) {
    double norm = 0;
    for (int c = 0; c < d; ++c) norm += s.k[(t + 1) * d + c] * s.k[(t + 1) * d + c];
    for (int c = 0; c < d; ++c) {
      BOOST_TEST(s.q[t * d + c] == s.k[(t + 1) * d + c]);
      BOOST_TEST(std::fabs(s.v[t * d + c] - s.k[(t + 1) * d + c] / std::sqrt(norm)) < 1e-15);
      BOOST_TEST(row.problem.target[t * d + c] == s.v[(t + 1) * d + c]);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_noise_has_the_law_of_equation_55, *slow) {
  // Recovered e_t = (x_{t+1} - f x_t) / 0.02: unit variances; correlations c (equicorrelated), c^|i-j| (chain). A
  // correlation of N draws has standard error at most 1/sqrt(N), a variance sqrt(2/N).
  const int T = 400000, d = 3;
  for (const std::string noise : {"equicorrelated", "chain"}) {
    const Instance row("online_regression",
                       {{"sequences", "1"}, {"T", "400000"}, {"d", "3"}, {"keys", "raw"}, {"noise", noise}});
    const std::vector<double> &x = row.problem.sequence.k;
    Dense covariance(d, d);
    for (int t = 0; t + 1 < T; ++t) { // x[t] is the paper's k_{t+1}
      double e[3];
      for (int c = 0; c < d; ++c) e[c] = (x[(t + 1) * d + c] - (t + 1 < T / 4 ? 0.9 : 0.999) * x[t * d + c]) / 0.02;
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) covariance(i, j) += e[i] * e[j] / (T - 1);
    }
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) {
        const double expected = i == j ? 1 : noise == "chain" && std::abs(i - j) == 2 ? 0.25 : 0.5;
        BOOST_TEST(std::fabs(covariance(i, j) - expected) < 6.5 * std::sqrt(2.0 / T));
      }
  }
}

BOOST_AUTO_TEST_CASE(it_starts_at_rest_or_from_one_draw) {
  // Channels are independent. x_1 has the variance sigma^2 / (1 - early^2) if stationary, sigma^2 if started at zero.
  for (const auto &[start, variance] : {std::pair{"stationary", 0.09 / (1 - 0.9025)}, {"zero", 0.09}}) {
    const Instance row("online_regression", {{"sequences", "5000"},
                                             {"T", "4"},
                                             {"d", "4"},
                                             {"keys", "raw"},
                                             {"correlation", "0"},
                                             {"early", "0.95"},
                                             {"sigma", "0.3"},
                                             {"start", start}});
    double square = 0;
    for (size_t i = 0; i < row.problem.sequence.k.size(); ++i)
      if (i / 4 % 4 == 0) square += row.problem.sequence.k[i] * row.problem.sequence.k[i] / 20000;
    BOOST_TEST(std::fabs(square / variance - 1) < 6.47 * std::sqrt(2.0 / 20000));
  }
}

BOOST_AUTO_TEST_CASE(losses_by_segment) {
  const Instance row("online_regression", {{"sequences", "2"}, {"T", "8"}, {"d", "5"}});
  const Score best = row.score(perfect(row.problem));
  for (const char *name : {"loss_before_switch", "loss_after_switch", "loss_late"}) BOOST_TEST(metric(best, name) == 0);
  Output off = perfect(row.problem); // an error of 3 in one channel of one sequence, in the second quarter
  off.o[(1 * 8 + 3) * 5] += 3;
  const Score score = row.score(off);
  BOOST_TEST(std::fabs(metric(score, "loss_after_switch") - 9.0 / 2 / 2) < 1e-13); // over 2 sequences and 2 steps
  BOOST_TEST(metric(score, "loss_late") == 0);
  BOOST_TEST(metric(score, "naive_late") > 0);
  // A forecaster that repeats the step's value is the naive one,
  // and normalising the output changes nothing for unit reads.
  const Instance unit("online_regression", {{"sequences", "2"}, {"T", "8"}, {"d", "5"}, {"output", "unit"}});
  const Score naive = unit.score(Output{unit.problem.sequence.v, {}, {}});
  check_close(naive.series.at("loss_by_step"), naive.series.at("naive_by_step"), 1e-14);
}

BOOST_AUTO_TEST_CASE(reads_are_normalised_before_they_are_scored_unless_they_are_zero) {
  for (const auto &[output, length] : {std::pair{"raw", 3.0}, {"unit", 1.0}, {"rms", 2.0}}) { // rms: sqrt(d)
    const Instance row("online_regression", {{"sequences", "2"}, {"T", "8"}, {"d", "4"}, {"output", output}});
    Output thrice = perfect(row.problem);
    for (double &x : thrice.o) x *= 3;
    const Output zero{std::vector<double>(thrice.o.size(), 0.0), {}, {}};
    const double loss = (length - 1) * (length - 1); // of unit targets
    check_close(row.score(thrice).series.at("loss_by_step"), std::vector<double>(8, loss), 1e-13);
    check_close(row.score(zero).series.at("loss_by_step"), std::vector<double>(8, 1), 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(the_process_switches_after_a_quarter) {
  // The noise depends on the seed alone: with the right factor at every step, two processes give the same noise.
  const int T = 20, d = 3;
  const auto process = [&](const char *early, const char *late) {
    return Instance("online_regression", {{"sequences", "1"},
                                          {"T", "20"},
                                          {"d", "3"},
                                          {"keys", "raw"},
                                          {"start", "zero"},
                                          {"early", early},
                                          {"late", late}})
        .problem.sequence.k;
  };
  const std::vector<double> x = process("0.5", "0.25"), y = process("0.25", "0.875");
  for (int t = 1; t < T; ++t)
    for (int c = 0; c < d; ++c) { // the paper's step t, counted from 1, leads from x[t - 1] to x[t]
      const bool early = t < T / 4;
      const double first = x[t * d + c] - (early ? 0.5 : 0.25) * x[(t - 1) * d + c],
                   second = y[t * d + c] - (early ? 0.25 : 0.875) * y[(t - 1) * d + c];
      BOOST_TEST(std::fabs(first - second) < 1e-15);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
