// SPDX-License-Identifier: Apache-2.0
// The size of a layer's state as a formula, which is fitted to the layer's own count (Variant::state_shape).
#pragma once
#include "harness/core/cost.hpp"
#include "harness/core/variant.hpp"

namespace recollect {

/// The size of one head's state, rows times columns. Rows and columns are polynomials of degree at most 2 in Dk, in Dv
/// and in each integer parameter that changes them. A layer without a finite state keeps the keys and values of all T
/// steps: T (Dk + Dv) numbers.
struct StateFormula {
  Polynomial rows, columns;
  std::vector<std::string> fixed; // "degree = 2": parameters for which no polynomial fits, with their defaults

  double at(const Shape &shape, const Params &params) const {
    return rows.at(shape, params) * columns.at(shape, params);
  }
  std::string str() const; // "Dk (Dv + 1)"
};

/// Logic error if rows and columns are not such polynomials in Dk and Dv.
StateFormula state_formula(const Variant &variant);

} // namespace recollect
