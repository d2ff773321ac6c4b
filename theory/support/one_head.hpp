// SPDX-License-Identifier: Apache-2.0
// Variants on one head, held against a memory that is stepped on the host: M_t [Dv,Dk], o_t = M_t q_t.
#pragma once
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/conditioning.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {

inline Dense gaussian(int rows, int columns, std::uint64_t seed, std::uint64_t stream) {
  return {rows, columns, Stream(seed, stream).normals(size_t(rows) * columns)};
}

/// The first head of an array [B,H,T,width] as rows, and one of its steps as a column.
inline Dense rows_of(const std::vector<double> &array, int T, int width) {
  return {T, width, {array.begin(), array.begin() + size_t(T) * width}};
}
inline Dense column(const std::vector<double> &array, int t, int width) {
  return {width, 1, {array.begin() + size_t(t) * width, array.begin() + size_t(t + 1) * width}};
}

inline Output run(const std::string &variant, const Sequence &s, const Assignments &set = {},
                  const std::string &form = "recurrent") {
  const Variant &v = find_variant(variant);
  return forward(v, s, {form, Real::f64, 16, variant_params(v, set)});
}

/// S of the one head: the first Dv rows of the final state, whatever else is stacked below them.
inline Dense memory(const Output &out, const Shape &shape) {
  return {shape.Dv, shape.Dk, {out.state.begin(), out.state.begin() + size_t(shape.Dv) * shape.Dk}};
}

/// The reads and the last memory of M_t = step(M_{t-1}, k_t, v_t, t), from M_0 = the sequence's state or zero.
template <class Step> Output stepped(const Sequence &s, Step step) {
  const Shape &shape = s.shape;
  Dense M(shape.Dv, shape.Dk);
  if (!s.state.empty()) M.data = s.state;
  Output out;
  for (int t = 0; t < shape.T; ++t) {
    M = step(M, column(s.k, t, shape.Dk), column(s.v, t, shape.Dv), t);
    const Dense read = M * column(s.q, t, shape.Dk);
    out.o.insert(out.o.end(), read.data.begin(), read.data.end());
  }
  out.state = M.data, out.state_shape = {shape.Dv, shape.Dk};
  return out;
}

/// Largest relative difference of reads and memories. Rounding may part two orders of summation by n eps kappa, kappa
/// the variant's response to its inputs (conditioning.hpp); `factor` is what the reference itself may lose beyond that.
inline Point same(const Output &reference, const std::string &variant, const Sequence &s, const Assignments &set,
                  const std::string &tier, const Params &label, double factor = 1) {
  const Variant &v = find_variant(variant);
  const double kappa = input_condition(v, s, variant_params(v, set), 2);
  Output measured = run(variant, s, set);
  if (!measured.state.empty()) measured.state = memory(measured, s.shape).data;
  return at(
      exact_point(deviation(measured, reference).largest(), 0, accumulated_terms(s.shape, 1) * kappa * factor, 1e-2),
      tier, label);
}

/// A claim of an identity: measured as it is, and with one slip (a term dropped, a sign turned) for the control.
inline Claim identity_row(const std::string &row, const std::string &source, const std::string &statement,
                          const std::string &exact, std::vector<std::string> variants,
                          std::vector<Point> (*points)(const Protocol &, bool slip)) {
  Claim c = ledger_row(row, source, statement, exact, [points](const Protocol &p) { return points(p, false); });
  c.control = [points](const Protocol &p) { return points(p, true); };
  c.variants = std::move(variants);
  return c;
}

} // namespace recollect::theory
