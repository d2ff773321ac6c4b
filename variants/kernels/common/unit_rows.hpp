// SPDX-License-Identifier: Apache-2.0
// Rows scaled to length 1, and the rows' lengths, for the whole range of the number type. Squares of small elements
// would underflow and squares of large elements overflow, so rows are first divided by their largest element.
#pragma once
#include "harness/device/each_index.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// |x|, computed by one thread.
template <class Real> KOKKOS_FUNCTION Real length_of(const Real *x, int n) {
  constexpr int lanes = on_host ? 16 : 1; // independent partial sums, which the compiler vectorises
  Real largest[lanes] = {}, sum[lanes] = {};
  int i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      const Real size = math::fabs(x[i + l]);
      largest[l] = size > largest[l] ? size : largest[l];
    }
  for (; i < n; ++i) largest[0] = math::fmax(largest[0], math::fabs(x[i]));
  for (int l = 1; l < lanes; ++l) largest[0] = math::fmax(largest[0], largest[l]);
  const Real unit = largest[0];
  if (unit == 0) return 0;
  for (i = 0; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) sum[l] += (x[i + l] / unit) * (x[i + l] / unit);
  for (; i < n; ++i) sum[0] += (x[i] / unit) * (x[i] / unit);
  for (int l = 1; l < lanes; ++l) sum[0] += sum[l];
  return unit * math::sqrt(sum[0]);
}

/// |x|, computed by the threads that share a row. Each thread takes the elements first, first + side ...
template <class Real> KOKKOS_FUNCTION Real row_length(const Real *x, int n, int first, int side) {
  Real largest = 0, sum = 0;
  for (int i = first; i < n; i += side) largest = math::fmax(largest, math::fabs(x[i]));
  largest = across_row(largest, [](Real a, Real b) { return math::fmax(a, b); });
  if (largest == 0) return 0;
  for (int i = first; i < n; i += side) sum += (x[i] / largest) * (x[i] / largest);
  return largest * math::sqrt(across_row(sum, [](Real a, Real b) { return a + b; }));
}

/// sqrt(|x|^2 / n + epsilon)
template <class Real> KOKKOS_FUNCTION Real root_mean_square(const Real *x, int n, Real epsilon) {
  const Real own = length_of(x, n) / math::sqrt(Real(n)), least = math::sqrt(epsilon), larger = math::fmax(own, least);
  if (larger == 0) return 0;
  const Real a = own / larger, b = least / larger;
  return larger * math::sqrt(a * a + b * b);
}

template <class Real> struct UnitRows {
  Array<Real> rows;   // [B,H,T,width] x / |x|, 0 where x = 0
  Array<Real> length; // [B,H,T]
};

template <class Real> UnitRows<Real> unit_rows(const Call<Real> &call, const Array<Real> &x, int width) {
  const Array<Real> rows = allocate(call, x.extent(0)), length = allocate(call, x.extent(0) / width);
  each_row(
      "unit_rows", int(length.extent(0)), width, KOKKOS_LAMBDA(int i, int first, int side) {
        const Real *row = x.data() + size_t(i) * width;
        Real *unit = rows.data() + size_t(i) * width;
        const Real own = on_host ? length_of(row, width) : row_length(row, width, first, side);
        if (first == 0) length(i) = own;
        for (int c = first; c < width; c += side) unit[c] = own > 0 ? row[c] / own : Real(0);
      });
  return {rows, length};
}

/// Gradient of x from the gradients of the rows and of the length: d x = (d row - row (row . d row)) / length + d
/// length row; 0 where x = 0.
template <class Real> void unit_rows_vjp(const UnitRows<Real> &unit, const UnitRows<Real> &d, const Array<Real> &d_x) {
  const int width = int(d_x.extent(0) / unit.length.extent(0));
  each_row(
      "unit_rows::backward", int(unit.length.extent(0)), width, KOKKOS_LAMBDA(int i, int first, int side) {
        const size_t at = size_t(i) * width;
        const Real *row = unit.rows.data() + at, *d_row = d.rows.data() + at, length = unit.length(i);
        const Real along = row_dot(row, d_row, width, first, side);
        for (int c = first; c < width; c += side)
          d_x(at + c) = length > 0 ? (d_row[c] - row[c] * along) / length + d.length(i) * row[c] : Real(0);
      });
}

/// numerators / |x|, or 1 / |x| if there are no numerators; 0 where x = 0.
template <class Real>
Array<Real> over_lengths(const Call<Real> &call, const UnitRows<Real> &unit, const Array<Real> &numerators) {
  const Array<Real> out = allocate(call, call.steps());
  const bool given = numerators.extent(0);
  parallel_loop(
      "over_lengths", out.extent(0), KOKKOS_LAMBDA(const size_t t) {
        const Real length = unit.length(t);
        out(t) = length > 0 ? (given ? numerators(t) : Real(1)) / length : Real(0);
      });
  return out;
}

/// Writes the gradients of the lengths and, unless d_numerators is empty, of the numerators.
template <class Real>
void over_lengths_vjp(const UnitRows<Real> &unit, const Array<Real> &quotients, const Array<Real> &d_quotients,
                      const Array<Real> &d_length, const Array<Real> &d_numerators) {
  const bool wanted = d_numerators.extent(0);
  parallel_loop(
      "over_lengths::backward", d_length.extent(0), KOKKOS_LAMBDA(const size_t t) {
        const Real length = unit.length(t), d = length > 0 ? d_quotients(t) / length : Real(0);
        d_length(t) = -quotients(t) * d;
        if (wanted) d_numerators(t) = d;
      });
}

} // namespace recollect::variants
