// SPDX-License-Identifier: Apache-2.0
// Gates that break a chunked form built on logarithms, and inputs for which every digit counts.
#pragma once
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {

/// Positive q, k, v: every sum has condition number 1, so each output must be right up to rounding.
inline Sequence positive_sequence(const Shape &shape) {
  Sequence s = random_sequence(shape, 3);
  for (auto *array : {&s.q, &s.k, &s.v})
    for (double &x : *array) x = std::fabs(x) + 0.1;
  return s;
}

/// Gates from 1 down to 1e-8, most of them 1. Differences of their summed logarithms would lose all digits of float
/// within a few hundred steps.
inline std::vector<double> harsh_gates(size_t count) {
  std::vector<double> gates;
  for (double u : Stream(4, "test/gates").uniforms(count, 0, 1)) gates.push_back(u < 0.1 ? 1e-8 : u < 0.3 ? 0.9 : 1.0);
  return gates;
}

/// max |measured / reference - 1|; NaN if any element is.
inline double largest_relative_error(const std::vector<double> &measured, const std::vector<double> &reference) {
  double worst = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double error = std::fabs(measured[i] / reference[i] - 1);
    if (std::isnan(error)) return error;
    worst = std::fmax(worst, error);
  }
  return worst;
}

/// Chunks of 16, 64 and all steps agree with the definition up to rounding.
inline void chunks_give_the_definition(const std::string &layer, const Sequence &s) {
  const Variant &variant = find_variant(layer);
  const Output reference = forward(variant, s);
  const double bound = accumulated_terms(s.shape, s.shape.T) * epsilon_of(Real::f64) * input_condition(variant, s, {});
  for (int C : {16, 64, s.shape.T})
    BOOST_TEST(deviation(forward(variant, s, {"chunked", Real::f64, C, {}}), reference).largest() <= bound);
}

} // namespace recollect
