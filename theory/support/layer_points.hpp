// SPDX-License-Identifier: Apache-2.0
// A layer of the registry compared with the theory's prediction, element by element.
#pragma once
#include "harness/call/conditioning.hpp"
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "theory/support/claims.hpp"
#include <algorithm>

namespace recollect::theory {

/// [rows,columns] of independent N(0,1), drawn from the stream of this name.
inline Dense normal_matrix(int rows, int columns, std::uint64_t seed, std::string_view stream) {
  return {rows, columns, Stream(seed, stream).normals(size_t(rows) * columns)};
}

inline void append_column(std::vector<double> &into, const Dense &column) {
  into.insert(into.end(), column.data.begin(), column.data.end());
}

/// The reads, then the rows of S. Other rows of the state are left out.
inline std::vector<double> results(const Output &out, const Shape &shape) {
  std::vector<double> all = out.o;
  const size_t memory = std::min(out.state.size(), size_t(shape.Dv) * shape.Dk);
  all.insert(all.end(), out.state.begin(), out.state.begin() + memory);
  return all;
}
/// The results of a layer's float64 pass over one head.
inline std::vector<double> results_of(const std::string &variant, const Sequence &s, const Assignments &set = {},
                                      const std::string &form = "recurrent") {
  const Variant &v = find_variant(variant);
  return results(forward(v, s, {form, Real::f64, 16, variant_params(v, set)}), s.shape);
}

/// Rounding units by which two orders of summation may differ in a layer's results: n kappa, relative to the largest
/// result (conditioning.hpp).
inline double rounding_units(const std::string &variant, const Sequence &s, const Assignments &set = {}) {
  const Variant &v = find_variant(variant);
  return accumulated_terms(s.shape, 1) * input_condition(v, s, variant_params(v, set), 2) *
         max_abs(results_of(variant, s, set));
}

} // namespace recollect::theory
