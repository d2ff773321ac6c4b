// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/noise/noise_points.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_7_linear_noise)

/// The prediction of the first point with this label.
double predicted(const Finding &finding, const std::string &label) {
  for (const Point &point : finding.points)
    if (point.label == label && point.role == Role::obligation) return point.predicted;
  return std::nan("");
}

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  // (n-1) dv/(dv-2) / (d-2) = 5 * 5/3 / 7, and half of it.
  const Assignments point{{"n", "6"}, {"d", "9"}, {"dv", "5"}};
  BOOST_TEST(
      std::fabs(predicted(check_claim_at("snr_linear", point), "$SNR^-1$, mean over probes, against the exact form") -
                25.0 / 21) < 1e-14);
  BOOST_TEST(
      std::fabs(predicted(check_claim_at("snr_relu", point), "$SNR^-1$, mean over probes, against the exact form") -
                25.0 / 42) < 1e-14);
  check_claim_at("snr_linear", {{"n", "2"}, {"d", "3"}, {"dv", "3"}});
  check_claim_at("snr_eq10_quadratic", {{"n", "3"}, {"d", "7"}, {"dv", "4"}});
  check_claim_at("snr_sqrt_correction", {{"d", "31"}});
}

BOOST_AUTO_TEST_CASE(one_memory_by_hand) {
  // Linear: k_1 = (1,0), v_1 = 3; the probe (2,1), v = 5: r = 2 * 3, c v = 5 * 5. exp at tau = 2: e^1 3, e^2.5 5.
  Sequence s = one_head(2, {0, 0, 2, 1}, {1, 0, 0, 0}, {3, 0});
  BOOST_TEST(std::fabs(kernel_reads(linear_law(), 1, s)[1] - 6) < 1e-14);
  BOOST_TEST(std::fabs(kernel_reads(exp_law(), 2, s)[1] - 3 * std::exp(1)) < 1e-14);
  // z = 0.5 and |k_i| = 3: kappa = 1.5 for the other pair, 9 for the probe's own.
  const std::vector<Integral> noise = noise_at(linear_law(), 4, 1, 3, {0.5}, one_pair(), 1);
  BOOST_TEST(std::fabs(noise[0].value - 2.25) < 1e-13);
  BOOST_TEST(std::fabs(inverse_signal(linear_law(), 4, 1, 3, only(2), 1).value - 1 / 324.0) < 1e-16);
}

BOOST_AUTO_TEST_CASE(many_probes_of_one_memory_are_as_good_as_one_each) {
  // Linear, by hand: z length for the other pair; exp at tau = 3: exp(z length / 3).
  const auto linear = noises_at(linear_law(), 4, 1, {3, 5}, {0.5, -1}, one_pair(), 1),
             tempered = noises_at(exp_law(), 4, 3, {3, 5}, {0.5, -1}, one_pair(), 1);
  for (int l = 0; l < 2; ++l)
    for (int m = 0; m < 2; ++m) {
      const double product = (l ? 5 : 3) * (m ? -1 : 0.5);
      BOOST_TEST(std::fabs(linear[l][m].value - product * product) < 1e-12);
      BOOST_TEST(std::fabs(tempered[l][m].value / std::exp(2 * product / 3) - 1) < 1e-13);
    }
  // Common nodes and nodes of one's own agree within their bounds.
  const Stored stored = gaussian_pairs(7, 5, only(2));
  for (const KernelLaw &law : {exp_law(), solu_law(), relu_law(), linear_law()})
    for (double tau : {2.0, 6.0}) {
      const std::vector<double> lengths{0.5, 3, 6};
      const auto together = noise_given_probes(law, 9, tau, lengths, stored, 3);
      for (size_t l = 0; l < lengths.size(); ++l) {
        const Integral alone = noise_given_probe(law, 9, tau, lengths[l], 3, stored);
        BOOST_TEST(std::fabs(together[l].value - alone.value) <= together[l].error + alone.error, law.kernel);
        BOOST_TEST(together[l].error < 1e-7 * together[l].value, law.kernel); // which also bounds the disagreement
      }
    }
}

BOOST_AUTO_TEST_CASE(a_large_memory_takes_its_common_nodes) {
  const Stored small = gaussian_pairs(20, 6, only(1)), large = gaussian_pairs(40, 6, only(1));
  const Integral few = mean_noise(exp_law(), 12, 4, 1, small), many = mean_noise(exp_law(), 12, 4, 1, large);
  BOOST_TEST(std::fabs(many.value / 39 - few.value / 19) <=
             many.error / 39 + few.error / 19); // N - 1 pairs make the noise
  BOOST_TEST(many.error < 1e-7 * many.value);
}

BOOST_AUTO_TEST_CASE(stored_values_have_the_moments_of_gaussian_ones) {
  for (const auto &[n, dv] : {std::pair{2, 3}, {5, 6}, {16, 12}}) {
    const Stored stored = gaussian_pairs(n, dv, only(1));
    BOOST_TEST(stored.others.columns == stored.copies * dv);
    for (int j = 0; j + 1 < n; ++j)
      for (int i = 0; i + 1 < n; ++i) {
        double product = 0, sum = 0;
        for (int c = 0; c < stored.others.columns; ++c)
          product += stored.others(i, c) * stored.others(j, c), sum += stored.others(j, c);
        BOOST_TEST(product / stored.copies == (i == j ? dv : 0));
        BOOST_TEST(sum == 0);
      }
  }
}

BOOST_AUTO_TEST_CASE(means_of_the_forms_given_the_probe) {
  for (const KernelLaw &law : {exp_law(), solu_law(), relu_law(), linear_law(), quadratic_law()}) {
    const Integral mean = length_rule(16, law.power, law.tempered ? decay_rate(4) : 0).integral([&](double length) {
      return law.given_probe(length * length, 4);
    });
    BOOST_TEST_INFO(law.kernel);
    BOOST_TEST(std::fabs(mean.value - law.mean(16, 4)) <= mean.error + 1e-14);
    BOOST_TEST(mean.error < 1e-6 * mean.value);
  }
  // d = 16, tau = 4: a = 2 * 3/16 = 3/8; (1 + 2a)^(-8) = 1.75^-8.
  BOOST_TEST(std::fabs(exp_law().mean(16, 4) - 1 / std::pow(1.75, 8)) < 1e-16);
  BOOST_TEST(std::fabs(exp_law().printed(16, 4) - std::exp(-6.0)) < 1e-16);
  BOOST_TEST(std::fabs(solu_law().mean(16, 4) / exp_law().mean(16, 4) - (1.75 / 14 + 0.25)) < 1e-14);
}

BOOST_AUTO_TEST_CASE(samples_do_not_depend_on_how_they_are_drawn) {
  const MemorySize size{5, 6, 4};
  const std::vector<double> all = sampled_noise(relu_law(), size, 1, 3, 0, 7);
  const std::vector<double> rest = sampled_noise(relu_law(), size, 1, 3, 4, 3);
  for (int m = 0; m < 3; ++m) BOOST_TEST(rest[m] == all[4 + m]);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
