// SPDX-License-Identifier: Apache-2.0
// Divides each row by m, a power of two near its largest element, so that no square overflows. A division by a power of
// two is exact. No square root is taken, so a layer that is smooth at a zero row stays smooth.
#pragma once
#include "harness/device/each_index.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

template <class Real> struct ScaledRows {
  Array<Real> rows;         // [B,H,T,width] x / m
  Array<Real> size, square; // [B,H,T] size: m, at least 1 and at least max |x_j| / 2; square: |x / m|^2
};

template <class Real> ScaledRows<Real> scaled_rows(const Call<Real> &call, const Array<Real> &x, int width) {
  const size_t n = x.extent(0) / width;
  const ScaledRows<Real> out{allocate(call, x.extent(0)), allocate(call, n), allocate(call, n)};
  each_row(
      "scaled_rows", int(n), width, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real *const row = x.data() + size_t(t) * width;
        Real *const scaled = out.rows.data() + size_t(t) * width, largest = 0, square = 0, size = 1;
        for (int j = first; j < width; j += side) largest = math::fmax(largest, math::fabs(row[j]));
        largest = across_row(largest, [](Real a, Real b) { return math::fmax(a, b); });
        while (size < largest / 2) size *= 2;
        for (int j = first; j < width; j += side) scaled[j] = row[j] / size, square += scaled[j] * scaled[j];
        square = across_row(square, [](Real a, Real b) { return a + b; });
        if (first == 0) out.size(t) = size, out.square(t) = square;
      });
  return out;
}

} // namespace recollect::variants
