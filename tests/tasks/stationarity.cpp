// SPDX-License-Identifier: Apache-2.0
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(stationarity)

BOOST_AUTO_TEST_CASE(the_optimum_is_the_least_squares_solution_of_the_data) {
  // Square W_k (one head): v = S* k exactly. Several heads:
  // the residual of S* is uncorrelated with the keys (normal equations).
  for (const char *heads : {"1", "4"})
    for (const char *sigma : {"identity", "correlated"}) {
      check_generator("stationarity", {{"heads", heads}, {"sigma", sigma}});
      const Instance row("stationarity", {{"models", "1"}, {"heads", heads}, {"sigma", sigma}, {"T", "4000"}});
      const Sequence &s = row.problem.sequence;
      const int m = s.shape.Dk, T = s.shape.T;
      const auto head0 = [&](const std::vector<double> &x) {
        return Dense(T, m, {x.begin(), x.begin() + size_t(T) * m});
      };
      const Dense q = head0(s.q), k = head0(s.k), v = head0(s.v);
      const Dense optimum_T = pseudo_inverse(q) * head0(row.problem.target); // targets are S* q
      const Dense residual = v - k * optimum_T, correlation = transpose(k) * residual;
      if (std::string(heads) == "1") {
        BOOST_TEST(max_abs(residual.data) < 1e-10 * max_abs(v.data));
      } else {
        BOOST_TEST(frobenius_norm(residual) > 0.1 * frobenius_norm(v));
        // Each entry is a mean of T products, whose standard deviation is at most |k|_rms |r|_rms 3^(1/2).
        const double spread = frobenius_norm(k) * frobenius_norm(residual) * std::sqrt(3.0 / T);
        BOOST_TEST(max_abs(correlation.data) < 6.5 * spread);
      }
      BOOST_TEST(std::fabs(frobenius_norm(k) / std::sqrt(double(T)) - 1) < 0.1); // E |k|^2 = 1
    }
}

BOOST_AUTO_TEST_CASE(the_delta_rule_settles_where_values_are_a_function_of_keys) {
  const Instance one("stationarity", {{"T", "1024"}}), several("stationarity", {{"T", "1024"}, {"heads", "4"}});
  const Score exact = one.score(delta_rule(one.problem.sequence)),
              noisy = several.score(delta_rule(several.problem.sequence));
  BOOST_TEST(metric(exact, "distance") < 1e-6);
  BOOST_TEST(metric(exact, "update") < 1e-6);
  BOOST_TEST(metric(noisy, "distance") > 1e-3); // a constant step keeps moving with the residual
  BOOST_TEST(metric(noisy, "update") > 1e-3);
  BOOST_TEST(metric(one.score(perfect(one.problem)), "distance") == 0);
}

BOOST_AUTO_TEST_CASE(correlations_are_one_half) {
  // One head: k = W_k x with orthonormal rows, brought to trace 1: the covariance of k has the eigenvalues of Sigma, 1 +
  // (d-1)/2 and 1/2, over d. Of T samples the largest has the standard error sqrt(2/T) of itself.
  const int T = 20000, d = 4;
  const Instance row("stationarity", {{"models", "1"}, {"T", "20000"}, {"d", "4"}, {"sigma", "correlated"}});
  const Dense k(T, d, row.problem.sequence.k);
  const std::vector<double> eigenvalues = symmetric_eigenvalues(1.0 / T * (transpose(k) * k));
  BOOST_TEST(std::fabs(eigenvalues.back() / (2.5 / 4) - 1) < 6.47 * std::sqrt(2.0 / T));
  BOOST_TEST(std::fabs(eigenvalues.front() / (0.5 / 4) - 1) < 6.47 * 3 * std::sqrt(2.0 / T)); // the smallest of three
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
