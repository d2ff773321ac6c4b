// SPDX-License-Identifier: Apache-2.0
// The size of a layer's state as a formula, found from the layer's own count (Variant::state_shape).
#pragma once
#include "harness/core/cost.hpp"
#include "harness/core/variant.hpp"

namespace recollect {

/// Numbers in one head's state: rows times columns. Both are polynomials of degree at most 2 in Dk, in Dv and in each
/// integer parameter that changes them. A layer without a finite state keeps the keys and values of all steps: T (Dk +
/// Dv).
struct StateFormula {
  Polynomial rows, columns;
  std::vector<std::string> fixed; // "degree = 2": parameters without such a formula, at their defaults

  double at(const Shape &shape, const Params &params) const {
    return rows.at(shape, params) * columns.at(shape, params);
  }
  std::string str() const; // "Dk (Dv + 1)"
};

/// Logic error if the count is not such a polynomial in Dk and Dv.
StateFormula state_formula(const Variant &variant);

} // namespace recollect
