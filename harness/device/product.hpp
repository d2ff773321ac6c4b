// SPDX-License-Identifier: Apache-2.0
// Products of whole matrices in device memory, many side by side in one launch, block by block, so that what one comes
// to depends neither on the number of threads nor on the others.
#pragma once
#include "harness/device/arena.hpp"
#include "harness/device/matrix.hpp"

namespace recollect {

/// `count` matrices, `apart` numbers from one to the next, row-major as they are stored; transposed, they are read so.
template <class Real> struct Matrices {
  Real *data;
  int count, rows, columns;
  std::ptrdiff_t apart;
  bool turned = false;

  /// That follow one another.
  static Matrices in(const Array<Real> &all, int count, int columns) {
    const size_t each = all.extent(0) / size_t(count);
    return {all.data(), count, int(each / size_t(columns)), columns, std::ptrdiff_t(each)};
  }
  Matrices transposed() const { return {data, count, columns, rows, apart, !turned}; }
  KOKKOS_FUNCTION tile::Matrix<Real> operator[](int i) const {
    const Real *const own = data + i * apart;
    return turned ? tile::transposed(own, rows) : tile::rows(own, columns);
  }
};

/// C = A B + keep C of each; C not transposed.
template <class Real>
void multiply(Arena &arena, const Matrices<Real> &A, const Matrices<Real> &B, Real keep, const Matrices<Real> &C);

} // namespace recollect
