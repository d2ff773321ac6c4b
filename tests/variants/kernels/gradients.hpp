// SPDX-License-Identifier: Apache-2.0
// Gradients from a layer's own backward pass in float64, for given output weights.
#pragma once
#include "harness/call/backward.hpp"
#include "tests/testing.hpp"

namespace recollect {

inline Sequence gradients(const std::string &layer, const Sequence &s, int chunk, const std::vector<double> &d_o,
                          const Assignments &set = {}) {
  const Variant &variant = find_variant(layer);
  return backward(variant, s, {backward_form(variant), Real::f64, chunk, variant_params(variant, set)}, {d_o, {}});
}

constexpr double rounding = 1e-14; // of a few operations on numbers near 1

} // namespace recollect
