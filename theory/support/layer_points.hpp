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

/// (a - b) / over, element by element.
inline Vector minus(Vector a, const Vector &b, double over = 1) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = (a[i] - b[i]) / over;
  return a;
}

inline void append_column(std::vector<double> &into, const Dense &column) {
  into.insert(into.end(), column.data.begin(), column.data.end());
}

/// A sequence of this shape with empty arrays.
inline Sequence of_shape(const Shape &shape) {
  Sequence s;
  s.shape = shape;
  return s;
}

/// The sequence with every element of one array set to `value`. An array that is empty becomes [B,H,T].
inline Sequence filled(Sequence s, Vector Sequence::*array, double value) {
  Vector &all = s.*array;
  all.assign(all.empty() ? s.shape.heads() * s.shape.T : all.size(), value);
  return s;
}

/// The sequence with the gates and values for which gated_linear computes the running mean of v k^T (000 Eq 79). The
/// first step is step t = `start` of the mean.
inline Sequence averaged(Sequence s, int start = 1) {
  s.alpha.clear();
  for (size_t row = 0; row < s.v.size() / s.shape.Dv; ++row) {
    const double t = double(start + row % s.shape.T);
    s.alpha.push_back((t - 1) / t);
    for (int c = 0; c < s.shape.Dv; ++c) s.v[row * s.shape.Dv + c] /= t;
  }
  return s;
}

/// Runs a layer in float64.
inline Output run(const std::string &variant, const Sequence &s, const Assignments &set = {},
                  const std::string &form = "recurrent", int chunk = 16) {
  const Variant &v = find_variant(variant);
  return forward(v, s, {form, Real::f64, chunk, variant_params(v, set)});
}
/// The reads, followed by S: the first Dv x Dk numbers of the state. The rest of the state is left out.
inline Vector results(const Output &out, const Shape &shape) {
  Vector all = out.o;
  const size_t memory = std::min(out.state.size(), size_t(shape.Dv) * shape.Dk);
  all.insert(all.end(), out.state.begin(), out.state.begin() + memory);
  return all;
}
/// The results of a layer's pass over one head.
inline Vector results_of(const std::string &variant, const Sequence &s, const Assignments &set = {},
                         const std::string &form = "recurrent") {
  return results(run(variant, s, set, form), s.shape);
}

/// Bound on the difference of a layer's results between two orders of summation, in units of eps: n kappa times the
/// largest result. n is the number of accumulated terms, kappa the condition number with respect to the inputs
/// (conditioning.hpp).
inline double rounding_units(const std::string &variant, const Sequence &s, const Assignments &set = {}) {
  const Variant &v = find_variant(variant);
  return accumulated_terms(s.shape, 1) * input_condition(v, s, variant_params(v, set), 2) *
         max_abs(results_of(variant, s, set));
}
} // namespace recollect::theory
