// SPDX-License-Identifier: Apache-2.0
#include "harness/files/gates.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(gate_formulas)

const Gate gates[] = {Gate::factor, Gate::log, Gate::log2, Gate::gdn, Gate::kda, Gate::kda_lb, Gate::rwkv, Gate::mamba};
const Strength strengths[] = {Strength::factor, Strength::sigmoid, Strength::doubled, Strength::sigmoid_double};

BOOST_AUTO_TEST_CASE(values_by_hand) {
  const double bias = 1;
  BOOST_TEST(rate_of(Gate::log2, -3).log == -3 * std::log(2));
  BOOST_TEST(std::fabs(rate_of(Gate::gdn, -1, std::log(2), &bias).log + 2 * std::log(2)) <
             1e-15);                                                            // softplus(0) = log 2
  BOOST_TEST(std::fabs(rate_of(Gate::kda_lb, -1, 0, &bias).log + 2.5) < 1e-15); // -5 sigmoid(0)
  BOOST_TEST(rate_of(Gate::rwkv, 0).log == -1);
  const Rate mamba = rate_of(Gate::mamba, 0.5, -4);
  BOOST_TEST((mamba.log == -2 && mamba.step == 0.5));
  BOOST_TEST((strength_of(0, Strength::sigmoid_double) == 1 && strength_of(0.3, Strength::doubled) == 0.6));
  BOOST_TEST((strength_of(0, Strength::sigmoid) == 0.5 && strength_of(0.3, Strength::factor) == 0.3));
}

BOOST_AUTO_TEST_CASE(a_decay_too_strong_for_its_gate_gets_the_largest_raw_gate) {
  for (Gate gate : {Gate::gdn, Gate::kda})
    BOOST_TEST(raw_gate(gate, 1e-100, 0, 0.5) == 29.5); // at most 30 before the bias
}

BOOST_AUTO_TEST_CASE(derivatives_are_difference_quotients) {
  const double h = 1e-6, bias = 0.4, x = 0.3, A = -0.7;
  const auto slope = [&](auto f) { return (f(h) - f(-h)) / (2 * h); };
  for (Gate gate : gates)
    for (const double *dt_bias : {static_cast<const double *>(nullptr), &bias}) {
      const Rate rate = rate_of(gate, x, A, dt_bias);
      BOOST_TEST_INFO(name_of(gate));
      BOOST_TEST(std::fabs(rate.by_x - slope([&](double d) { return rate_of(gate, x + d, A, dt_bias).log; })) < 1e-8);
      BOOST_TEST(std::fabs(rate.by_A - slope([&](double d) { return rate_of(gate, x, A + d, dt_bias).log; })) < 1e-8);
      BOOST_TEST(std::fabs(rate.step_by_x - slope([&](double d) { return rate_of(gate, x + d, A, dt_bias).step; })) <
                 1e-8);
    }
  for (Strength s : strengths)
    BOOST_TEST(std::fabs(strength_slope(x, s) - slope([&](double d) { return strength_of(x + d, s); })) < 1e-8);
}

BOOST_AUTO_TEST_CASE(raw_numbers_give_the_decay_and_the_strength) {
  for (double decay : {0.02, 0.5, 0.999}) {
    for (Gate gate : gates) {
      const double A = gate == Gate::mamba ? -3 : 0.8, bias = 0.4, x = raw_gate(gate, decay, A, bias);
      const bool biased = has_parameters(gate) && gate != Gate::mamba; // mamba's bias would change the write strength
      BOOST_TEST_INFO(name_of(gate) << ", " << decay);
      BOOST_TEST(std::fabs(std::exp(rate_of(gate, x, A, biased ? &bias : nullptr).log) - decay) < 1e-12);
    }
    for (Strength s : strengths) BOOST_TEST(std::fabs(strength_of(raw_strength(decay, s), s) - decay) < 1e-12);
  }
  BOOST_TEST((raw_strength(1, Strength::sigmoid) == 30 && raw_strength(0, Strength::sigmoid) == -30));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
