// SPDX-License-Identifier: Apache-2.0
// Operands of the matrix products in tile.hpp. This header also compiles as host C++ without Kokkos.
#pragma once
#include <cstddef>

#ifdef KOKKOS_FUNCTION
#define RECOLLECT_FUNCTION KOKKOS_FUNCTION
#else
#define RECOLLECT_FUNCTION
#endif

namespace recollect::tile {

/// An operand whose element (i, j) is data[i * row + j * column].
template <class Real> struct Matrix {
  const Real *data;
  std::ptrdiff_t row, column;
  RECOLLECT_FUNCTION Real operator()(int i, int j) const { return data[i * row + j * column]; }
  RECOLLECT_FUNCTION Matrix from(int i, int j) const { return {data + i * row + j * column, row, column}; }
};
template <class Real> RECOLLECT_FUNCTION Matrix<Real> rows(const Real *data, std::ptrdiff_t width) {
  return {data, width, 1};
}
template <class Real> RECOLLECT_FUNCTION Matrix<Real> transposed(const Real *data, std::ptrdiff_t width) {
  return {data, 1, width};
}

/// Says which elements of a matrix count: (i, j) counts if j < end(i) = first + step i, clamped to [0, width]; step is
/// not negative.
struct Staircase {
  int first = 1 << 30, step = 0;
  RECOLLECT_FUNCTION int end(int i, int width) const {
    const std::ptrdiff_t at = first + std::ptrdiff_t(step) * i;
    return at < 0 ? 0 : at < width ? int(at) : width;
  }
};

/// The product A[m,k] B[k,n].
template <class Real> struct Product {
  Matrix<Real> A, B;
  int k = 0;
  // Elements of A that do not count are taken as 0; the elements of B that they multiply are ignored, even if infinite.
  Staircase given = {};
  // Elements of the product that do not count need not be written.
  Staircase wanted = {};
};

} // namespace recollect::tile
