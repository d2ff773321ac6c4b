// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/noise_sampling.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(snr)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claims({"snr_*", "dot_variance"}); }

BOOST_AUTO_TEST_CASE(a_point_of_the_users_own) {
  const Claim &claim = *select_claims({"snr-exp"}).front();
  const Finding finding =
      examine(claim, {Effort::quick, 1, resolve(claim.params, {{"d", "48"}, {"n", "100"}, {"tau", "7"}}, claim.id)});
  BOOST_TEST(finding.passed);
  const double rate = 12.0 / 49,
               exact = 99 * 16 / 14.0 * std::pow(1 + 2 * rate, -24); // (n-1) dv/(dv-2) (1+2a)^(-d/2), dv = 16
  bool found = false;
  for (const Point &p : finding.points)
    if (p.label == "expectation" && p.params.text("method") == "sampled") {
      found = true;
      BOOST_TEST(p.params.real("d") == 48);
      BOOST_TEST(p.params.real("n") == 100);
      BOOST_TEST(std::fabs(p.predicted / exact - 1) < 1e-12);
    }
  BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(gauss_rules_give_the_moments) {
  const Quadrature normal = normal_quadrature(20),
                   gamma = gamma_quadrature(20, 5); // chi^2 with 10 degrees of freedom is 2 X
  const double rounding = 1e-13;                    // 20 terms, the largest moment 945
  BOOST_TEST(std::fabs(normal.mean([](double) { return 1.0; }) - 1) < rounding);
  BOOST_TEST(std::fabs(normal.mean([](double x) { return x * x; }) - 1) < rounding);
  BOOST_TEST(std::fabs(normal.mean([](double x) { return std::pow(x, 10); }) / 945 - 1) < rounding);
  BOOST_TEST(std::fabs(normal.mean([](double x) { return std::exp(x); }) / std::exp(0.5) - 1) < rounding);
  BOOST_TEST(std::fabs(gamma.mean([](double x) { return 2 * x; }) / 10 - 1) < rounding);
  BOOST_TEST(std::fabs(gamma.mean([](double x) { return std::exp(-0.25 * 2 * x); }) / std::pow(1.5, -5) - 1) <
             rounding);
  // 1/x is not smooth at 0: the change from a coarser rule bounds the error of E[1/chi2_16] = 1/14, as integrated_noise
  // assumes.
  const auto inverse = [](double x) { return 1 / (2 * x); };
  const double coarse = gamma_quadrature(30, 8).mean(inverse), fine = gamma_quadrature(40, 8).mean(inverse);
  BOOST_TEST(std::fabs(fine - 1 / 14.0) < std::fabs(fine - coarse));
  BOOST_TEST(std::fabs(fine - coarse) < 1e-7);
}

BOOST_AUTO_TEST_CASE(polynomials_extrapolate_exactly) {
  const Limit limit = limit_at_zero({1, 0.5, 0.25}, {1 + 2 + 3, 1 + 1 + 0.75, 1 + 0.5 + 3.0 / 16}); // 1 + 2h + 3h^2
  BOOST_TEST(std::fabs(limit.value - 1) < 1e-14);
  BOOST_TEST(limit.error > 0);
}

BOOST_AUTO_TEST_CASE(closed_forms_by_hand) {
  // d = 16, tau = 4: a = 2 * 3/16 = 3/8; (1 + 2a)^(-8) = 1.75^-8 = 0.01136830...
  BOOST_TEST(std::fabs(exp_law().mean(16, 4) - 1 / std::pow(1.75, 8)) < 1e-16);
  BOOST_TEST(std::fabs(exp_law().printed(16, 4) - std::exp(-6.0)) < 1e-16);
  BOOST_TEST(std::fabs(solu_law().mean(16, 4) / exp_law().mean(16, 4) - (1.75 / 14 + 0.25)) < 1e-14);
  BOOST_TEST(relu_law().mean(16, 1) == 1.0 / 28);
  // Their expectations over |k|^2 ~ chi^2_16 of the conditional forms, by quadrature.
  const Quadrature half = gamma_quadrature(60, 8), coarse = gamma_quadrature(45, 8);
  for (const KernelLaw &law : {exp_law(), solu_law(), relu_law(), linear_law()}) {
    const auto conditional = [&](double x) { return law.given_probe(2 * x, 4); };
    const double mean = half.mean(conditional);
    BOOST_TEST_INFO(law.kernel);
    BOOST_TEST(std::fabs(mean - law.mean(16, 4)) < std::fabs(mean - coarse.mean(conditional)) + 1e-13);
    BOOST_TEST(std::fabs(mean / law.mean(16, 4) - 1) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(noise_and_signal_of_one_memory) {
  // Linear: k_1 = (1,0), v_1 = 3; the probe (2,1), v = 5: r = 2 * 3, c v = 5 * 5, SNR^-1 = 36/625.
  Sequence s = one_head(2, {2, 1, 2, 1}, {1, 0, 2, 1}, {3, 5});
  BOOST_TEST(std::fabs(noise_ratios(s.shape, kernel_read(linear_law(), 1, s))[0] - 36.0 / 625) < 1e-16);
  // exp at tau = 2: r = e^1 * 3, c v = e^2.5 * 5.
  BOOST_TEST(std::fabs(noise_ratios(s.shape, kernel_read(exp_law(), 2, s))[0] -
                       9 * std::exp(2.0) / (25 * std::exp(5.0))) < 1e-16);
}

BOOST_AUTO_TEST_CASE(the_mixture_is_unbiased) {
  // tau = 1.5, where the plain sample mean has infinite variance: the weights still average to 1, and none exceeds 2.
  const NoiseSample sample = sample_noise(exp_law(), {6, 12, 12}, 1.5, false, 20000, 3);
  const Mean weight = mean_of(sample.weight), noise = mean_of(sample.noise);
  BOOST_TEST(std::fabs(weight.mean - 1) < 6.47 * weight.standard_error);
  BOOST_TEST(max_abs(sample.weight) <= 2);
  const double exact = 5 * 12 / 10.0 * exp_law().mean(12, 1.5);
  BOOST_TEST(std::fabs(noise.mean - exact) < 6.47 * noise.standard_error);
  BOOST_TEST(noise.standard_error < 0.05 * exact);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
