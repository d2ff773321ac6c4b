// SPDX-License-Identifier: Apache-2.0
// 65,536 steps through one layer.
#pragma once
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {

constexpr Shape long_shape{1, 1, 65536, 3, 2};

inline bool finite(const Output &out) {
  const auto all = [](const std::vector<double> &x) {
    return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
  };
  return all(out.o) && all(out.state);
}

/// The chunked form against the definition over a long sequence.
inline void check_chunked(const Variant &variant, const Params &params, const Sequence &s, const char *gates) {
  const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
  const double kappa = input_condition(variant, s, params, 1);
  for (Real real : {Real::f32, Real::f64}) {
    const Output out = forward(variant, s, {"chunked", real, 64, params});
    const double error = deviation(out, reference).largest(),
                 allowed = accumulated_terms(s.shape, 64) * epsilon_of(real) * kappa;
    BOOST_TEST_INFO(variant.name << " " << name_of(real) << ", " << gates << ": error " << error << ", allowed "
                                 << allowed << ", kappa " << kappa);
    BOOST_TEST((finite(out) && error <= allowed && (real == Real::f32 || allowed < 1e-3)));
  }
}

} // namespace recollect
