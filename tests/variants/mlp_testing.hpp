// SPDX-License-Identifier: Apache-2.0
// Checks for memories that are trained online.
#pragma once
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {

/// One step from a random state with lr = 1 changes each weight by minus the difference
/// quotient of 1/2 |read(k) - v|^2.
inline void check_gradient(const std::string &name, const Assignments &settings) {
  const Variant &layer = find_variant(name);
  Sequence s = random_sequence({1, 1, 1, 3, 4}, 41);
  s.q = s.k, s.beta = {1}, s.alpha = {1};
  Assignments reading = settings, stepping = settings;
  reading["lr"] = "0", stepping["lr"] = "1";
  const StateShape shape = layer.state_shape(s.shape, variant_params(layer, settings));
  const size_t weights = size_t(12) * (3 + 4);
  s.state = Stream(42, "test/state").normals(shape.size());
  std::fill(s.state.begin() + weights, s.state.end(), 0.0); // the momentum starts at 0
  const auto loss = [&](const std::vector<double> &state) {
    Sequence at = s;
    at.state = state;
    const std::vector<double> o = forward(layer, at, {"recurrent", Real::f64, 1, variant_params(layer, reading)}).o;
    double sum = 0;
    for (int c = 0; c < 4; ++c) sum += (o[c] - s.v[c]) * (o[c] - s.v[c]) / 2;
    return sum;
  };
  const std::vector<double> after =
      forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, stepping)}).state;
  const double h = 1e-5;
  for (size_t i = 0; i < weights; ++i) {
    std::vector<double> up = s.state, down = s.state;
    up[i] += h, down[i] -= h;
    BOOST_TEST(std::fabs(s.state[i] - after[i] - (loss(up) - loss(down)) / (2 * h)) <
               1e-7); // h^2 times third derivatives of order 100, and eps/h
  }
}

/// Minibatches of one token equal the definition; larger ones differ, by an amount that the log shows.
inline void check_minibatches(const Variant &layer, const Sequence &s) {
  const Output reference = forward(layer, s);
  const auto apart = [&](const char *batch) {
    return deviation(forward(layer, s, {"minibatch", Real::f64, 64, variant_params(layer, {{"minibatch", batch}})}),
                     reference)
        .largest();
  };
  const double bound =
      accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * input_condition(layer, s, variant_params(layer));
  const double one = apart("1"), four = apart("4"), sixteen = apart("16");
  BOOST_TEST_MESSAGE(layer.name << " minibatch deviates by " << one << " at b = 1, " << four << " at b = 4, " << sixteen
                                << " at b = 16");
  BOOST_TEST(one <= bound);
  BOOST_TEST(four > 1e-3);
  BOOST_TEST(sixteen > four);
}

/// The same for two-layer memories, whose deviation vanishes as lr^2 where nothing decays.
inline void check_minibatches(const std::string &name, const std::string &small_lr, const std::string &half_of_it) {
  const Variant &layer = find_variant(name);
  const Sequence s = random_sequence({2, 2, 70, 6, 5}, 43);
  check_minibatches(layer, s);
  Sequence open = s; // decay between the steps of a batch would itself be an error of first order
  std::fill(open.alpha.begin(), open.alpha.end(), 1.0);
  const auto at_rate = [&](const std::string &lr) {
    const Params params = variant_params(layer, {{"lr", lr}});
    return max_difference(forward(layer, open, {"minibatch", Real::f64, 64, params}).state,
                          forward(layer, open, {"recurrent", Real::f64, 1, params}).state);
  };
  const double order = std::log2(at_rate(small_lr) / at_rate(half_of_it));
  BOOST_TEST_MESSAGE("halving lr divides the deviation by 2^" << order);
  BOOST_TEST(std::fabs(order - 2) < 0.05);
}

} // namespace recollect
