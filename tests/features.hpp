// SPDX-License-Identifier: Apache-2.0
// The feature map of a kernelised layer, read from its state: after one step with v = 0 the normaliser row holds
// phi(k), relative to e^peak if a row of running maxima follows.
#pragma once
#include "harness/numerics/statistics.hpp"
#include "harness/numerics/verdict.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {

inline std::vector<double> features_of(const std::string &layer, const std::vector<double> &x,
                                       const Assignments &given = {}) {
  const Variant &variant = find_variant(layer);
  const Output out =
      forward(variant, one_head(1, x, x, {0}), {"recurrent", Real::f64, 1, variant_params(variant, given)});
  const size_t F = size_t(out.state_shape.columns);
  std::vector<double> phi(out.state.begin() + F, out.state.begin() + 2 * F);
  for (size_t j = 0; out.state_shape.rows == 3 && j < F; ++j) phi[j] *= std::exp(out.state[2 * F + j]);
  return phi;
}

inline double inner_product(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Asserts that independent samples of phi(x) phi(y), which have the mean e^(0.7 x y), tell it to 2%.
inline void check_unbiased(const std::vector<double> &samples, const std::vector<double> &x,
                           const std::vector<double> &y) {
  const Mean mean = mean_of(samples);
  BOOST_TEST(std::fabs(mean.mean - std::exp(0.7 * inner_product(x, y))) <=
             allowed_standard_errors * mean.standard_error);
  BOOST_TEST(mean.standard_error < 0.02);
}

} // namespace recollect
